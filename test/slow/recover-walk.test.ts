import { chmodSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forgeJson } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { kills } from '../support/kills.js';
import { randomOf } from '../support/ledger-world.js';
import type { Project } from '../support/project.js';
import { files, plan, recover, undo } from '../support/recovery.js';

const CHECKPOINT = 'checkpoint/W-v1';
const PATHS = ['a', 'a/b', 'a/b/c', 'a/x.log', 'd', 'd/e', 'd/e/f.log', 'g', 'g.log', 'odd "name"\n', 'ü/é'];

/** Whatever is in the way goes first. */
function clear(project: Project, path: string): void {
  const parts = path.split('/');
  for (let length = 1; length <= parts.length; length++) {
    const at = project.path(...parts.slice(0, length));
    const stat = lstatSync(at, { throwIfNoEntry: false });
    if (stat && (length === parts.length || !stat.isDirectory())) rmSync(at, { recursive: true });
    if (!stat?.isDirectory()) break;
  }
  mkdirSync(dirname(project.path(path)), { recursive: true });
}

type Roll = (below: number) => number;

const CONTENTS = ['', 'one\n', 'two\r\n', '\0\xff', 'three\n', 'four\n'];
/** None leads out of the project. */
const LINKS = ['d', 'g', 'nowhere'];
const RULES = ['', '*.log\n', 'g\nb\n', '*.log\n!f.log\ne/\n', 'a/\n'];
const MODES = [0o644, 0o755, 0o600];
/** Each converts some files on their way into git or out. */
const ATTRIBUTES = ['', '* text=auto\n', 'a/** text eol=crlf\n', '*.log binary\nd/** text\n', 'g ident\n'];
/** What people set for themselves. */
const SETTINGS = [
  'core.autocrlf=true',
  'core.autocrlf=input',
  'core.fileMode=false',
  'core.splitIndex=true',
  'index.version=4',
];

/** One change to files or index. What git refuses (a path that is ignored, or not there) is none. */
function step(project: Project, roll: Roll): void {
  const path = PATHS[roll(PATHS.length)] as string;
  const at = project.path(path);
  const git = (...args: string[]): void => {
    try {
      project.git('--literal-pathspecs', ...args);
    } catch {}
  };
  const write = ({ path: to = path, text = CONTENTS[roll(CONTENTS.length)] as string } = {}): void => {
    clear(project, to);
    writeFileSync(project.path(to), text);
  };
  const steps: (() => void)[] = [
    () => write(),
    () => write(),
    () => write(),
    () => {
      clear(project, path);
      symlinkSync(LINKS[roll(LINKS.length)] as string, at);
    },
    () => clear(project, path),
    () => {
      write();
      chmodSync(at, MODES[roll(MODES.length)] as number);
    },
    () => git('add', '-A', '--', path),
    () => git('add', '-f', '--', path),
    () => git('rm', '-rq', '--cached', '--', path),
    () => git('add', '-N', '--', path),
    () => git('update-index', `--chmod=${roll(2) === 0 ? '+' : '-'}x`, '--', path),
    () => git('mv', '-f', '--', path, PATHS[roll(PATHS.length)] as string),
    () => git('checkout', '-q', '--', path),
    () => git('stash', 'push', '-qu', '--', ':!.forge'),
    () => git('stash', 'pop', '-q'),
    () => git('commit', '-qm', 'Step'),
    () => git('commit', '-qam', 'All'),
    () => write({ path: '.gitignore', text: RULES[roll(RULES.length)] }),
    () => write({ path: 'd/.gitignore', text: RULES[roll(RULES.length)] }),
    () => write({ path: '.gitattributes', text: ATTRIBUTES[roll(ATTRIBUTES.length)] }),
  ];
  (steps[roll(steps.length)] as () => void)();
}

/** `FORGE_SOAK=17,18` plays these seeds; 1 plays 300 of them, a part of 1 fewer. */
const soak = process.env.FORGE_SOAK ?? '';
const seeds = soak.includes(',')
  ? soak.split(',').map(Number)
  : Array.from({ length: kills(6, 300) }, (_, i) => i + 1);

/** The index without intents to add, which hold no content: after an undo their files are untracked. */
const stagedContent = (project: Project): string[] =>
  project
    .git('ls-tree', '-r', '-z', project.git('write-tree'))
    .split('\0')
    .filter((entry) => !entry.includes('\t.forge/'));

/** Files that were ignored stay, whatever the checkpoint ignores. */
const differs = (project: Project): string =>
  project.git('diff', '--name-only', CHECKPOINT, '--', '.', ':!.forge');

describe('a walk between checkpoint and rollback', () => {
  it('GIT-06 after any operations: a rollback gives the checkpoint, and its undo the state before', async () => {
    for (const seed of seeds) {
      const roll = randomOf(seed);
      const project = await makeForge();
      project.write('.gitignore', '*.log\n');
      if (roll(2) === 0) project.git('config', ...(SETTINGS[roll(SETTINGS.length)] as string).split('='));
      for (let i = roll(30); i > 0; i--) step(project, roll);
      project.git('add', '-A');
      project.git('commit', '-q', '--allow-empty', '-m', 'Whole');
      const checks = ['test ! -e .git/wreck', 'test ! -f .git/wreck'];
      await forgeJson(project, [
        'checkpoint',
        'create',
        'W',
        ...checks.flatMap((check) => ['--verify', check]),
      ]);
      project.write('.git/wreck', '');
      for (let i = 1 + roll(30); i > 0; i--) step(project, roll);
      const before = { seed, files: files(project), staged: stagedContent(project) };
      const { files: changed, untracked } = (await plan(project)).divergence;
      if (changed + untracked === 0) continue;
      const { decision, backup_ref } = await recover(project);
      expect([seed, decision, differs(project)]).toEqual([seed, 'rollback', '']);
      if (backup_ref) await undo(project);
      expect({ seed, files: files(project), staged: stagedContent(project) }).toEqual(before);
    }
  });
});
