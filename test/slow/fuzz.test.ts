import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AGENTS } from '../../src/agent/agents.js';
import { readCalls } from '../../src/agent/event.js';
import { CHECKPOINT } from '../../src/checkpoint/rules.js';
import { parseMessage } from '../../src/commit/message.js';
import { checkMessage } from '../../src/commit/protocol.js';
import { DEFAULT_SETTINGS, makeRules } from '../../src/commit/rules.js';
import { ForgeError } from '../../src/core/error.js';
import { decodeDocument } from '../../src/core/schema.js';
import { parseObservations } from '../../src/cycle/builder.js';
import { ACTIVE_ISSUES } from '../../src/feature/tasks.js';
import { parsePushed } from '../../src/git/remote.js';
import { readMarkdown } from '../../src/import/sources.js';
import { parsePatch } from '../../src/kfr/kfr.js';
import { KFR } from '../../src/kfr/rules.js';
import { parseInvariants } from '../../src/knowledge/rules.js';
import { parseCycles } from '../../src/learning/record.js';
import { parseContainer } from '../../src/ledger/container.js';
import { parseJournal } from '../../src/ledger/journal.js';
import { parseAnswers, parseForm } from '../../src/linear/form.js';
import { decodeConfig } from '../../src/project/config.js';
import { readQuery } from '../../src/recall/terms.js';
import { ARCHIVED_SESSION, FOCUS, parseProgress } from '../../src/session/rules.js';
import { parseManifest } from '../../src/skill/rules.js';
import { parseSkillMd } from '../../src/skill/skill-md.js';
import { forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { kills } from '../support/kills.js';
import { randomOf } from '../support/ledger-world.js';
import { MESSAGE } from '../support/message.js';
import { NAUGHTY } from '../support/naughty.js';

/** Everything that reads what others wrote: bytes of any kind give a value or an error that says what is wrong. */

const shipped = (name: string): string =>
  readFileSync(new URL(`../../templates/forge/${name}`, import.meta.url), 'utf8');

interface Target {
  name: string;
  sample: string;
  read: (text: string) => unknown;
}

const asFile =
  (read: (path: string) => unknown) =>
  (text: string): unknown => {
    const path = join(mkdtempSync(join(tmpdir(), 'fuzz-')), 'file');
    writeFileSync(path, text, 'latin1');
    return read(path);
  };

const TRANSCRIPT = [
  '{"type":"assistant","cwd":"/w","message":{"content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/w/a.ts"}}]}}',
  '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"1\\tconst a = 1"}]}}',
].join('\n');

const COMMIT_RULES = makeRules(DEFAULT_SETTINGS, () => ['login']);

const FIXED: Target[] = [
  {
    name: 'a KFR patch',
    read: parsePatch,
    sample:
      '{"operations":[{"op":"add","kind":"OpenQuestion","text":"Is it?"},{"op":"resolve","id":"kfr-1","resolution":"Yes"}]}',
  },
  {
    name: 'recorded cycles',
    read: parseCycles,
    sample:
      '{"task_id":"F-1","exit_code":0,"patterns":[{"pattern":"p","scope":"s"}]}\n{"task_id":"F-2","exit_code":1}\n',
  },
  {
    name: 'observations of a cycle',
    read: (text) => parseObservations(text, () => null),
    sample: '{"pattern":"p","scope":"s"}\n{"signal":"speed","value":0.5}\n{"proposal":"do it"}\n',
  },
  { name: 'a commit message', read: parseMessage, sample: MESSAGE },
  {
    name: 'a checked message',
    read: (text) => checkMessage(Buffer.from(text, 'latin1'), COMMIT_RULES, { stored: true }),
    sample: MESSAGE,
  },
  {
    name: 'a skill',
    read: (text) => parseManifest(text, 'skill.toml'),
    sample: shipped('skills/qa-review/skill.toml'),
  },
  {
    name: 'a skill in the open format',
    read: (text) => parseSkillMd(text, 'SKILL.md'),
    sample:
      '---\nname: my-skill\ndescription: "What it does: a lot"\nmetadata:\n  forge-keywords: "a, b"\n---\n\n# My skill\n\nDo it.\n',
  },
  { name: 'settings', read: (text) => decodeConfig(text, 'config.toml'), sample: shipped('config.toml') },
  {
    name: 'a form',
    read: (text) => parseForm(text, 'bug.yaml', ['a']),
    sample: shipped('linear/templates/bug.yaml'),
  },
  {
    name: 'answers to a form',
    read: parseAnswers,
    sample: 'title: "[BUG] It breaks"\nsteps: |\n  one\n  two\nlabels: [a, b]\n',
  },
  {
    name: 'a query',
    read: readQuery,
    sample: 'tier:note "exact words" since:30d fooBar snake_case src/a.ts NEAR( AND *',
  },
  {
    name: 'notes to import',
    read: readMarkdown,
    sample: '# Notes\n\n- [ ] Login works\n- [x] Logout\n\n## Rules\n\nNever do this.\n',
  },
  {
    name: 'a transcript',
    read: asFile((path) => readCalls(path, { from: 0, since: 0 })),
    sample: TRANSCRIPT,
  },
  {
    name: 'the lines of a push',
    read: parsePushed,
    sample: `refs/heads/main ${'a'.repeat(40)} refs/heads/main ${'0'.repeat(40)}\n`,
  },
];

/** A project in which something was done; its files are samples. */
async function storedTargets(): Promise<Target[]> {
  const project = await makeForge();
  await forgeJson(project, ['session', 'start', '--task', 'Login']);
  await forgeJson(project, ['kfr', 'patch', '--goal', 'Log in', '--add', 'Constraint:No cookies']);
  await forgeJson(project, ['note', 'add', 'The cache is warm']);
  await forgeJson(project, 'memory record --task F-1 --exit-code 0 --pattern p --scope execution');
  await forgeJson(project, ['linear', 'new', 'Wire the login']);
  const journal = '.git/forge/journal/main.jsonl';
  const ledger = '.forge/memory/ledger';
  const named = readdirSync(project.path(ledger)).find((name) => name.endsWith('.jsonl')) ?? '';
  const container = `${ledger}/${named}`;
  const text = (path: string): string => (project.has(path) ? project.read(path) : '{}');
  const document = (name: string, path: string, format: Parameters<typeof decodeDocument>[0]): Target => ({
    name,
    sample: text(path),
    read: (bytes) => decodeDocument(format, Buffer.from(bytes, 'latin1'), path),
  });
  return [
    {
      name: 'a file of the ledger',
      sample: text(container),
      read: (bytes) => parseContainer(container, Buffer.from(bytes, 'latin1')),
    },
    { name: 'the journal', sample: text(journal), read: parseJournal },
    {
      name: 'the log of a session',
      sample: text('.forge/memory/short-term/progress.txt'),
      read: parseProgress,
    },
    {
      name: 'architecture.md',
      sample: text('.forge/memory/long-term/architecture.md'),
      read: parseInvariants,
    },
    document('the focus', '.forge/memory/short-term/focus.json', FOCUS),
    document('working memory', '.forge/local/kfr.json', KFR),
    document('issues', '.forge/linear/active.json', ACTIVE_ISSUES),
    document('an archived session', 'none', ARCHIVED_SESSION),
    document('a checkpoint', 'none', CHECKPOINT),
  ];
}

/** One to eight changes: bytes flipped, cut, doubled, put in, and whole texts that have broken programs. */
function mutate(sample: string, seed: number): string {
  const random = randomOf(seed);
  let bytes = Buffer.from(sample);
  for (let left = 1 + random(8); left > 0; left--) {
    const at = random(bytes.length + 1);
    const end = Math.min(bytes.length, at + random(40));
    const [head, middle, tail] = [bytes.subarray(0, at), bytes.subarray(at, end), bytes.subarray(end)];
    const naughty = Buffer.from(NAUGHTY[random(NAUGHTY.length)] ?? '');
    const changes = [
      () => [head, Buffer.from([random(256)]), tail],
      () => [head, tail],
      () => [head, middle, middle, middle, tail],
      () => [head, naughty, middle, tail],
      () => [head],
      () => [head, Buffer.from('{}[]"\\:,\n\t-#\0'.charAt(random(13))), middle, tail],
      () => [tail, head],
    ];
    bytes = Buffer.concat(changes[random(changes.length)]?.() ?? []).subarray(0, 200_000);
  }
  return bytes.toString('latin1');
}

const ROUNDS = kills(300, 20_000);
/** Milliseconds that no input of some kilobytes may take, however busy the machine is. */
const HANG = 5000;

function attack({ name, sample, read }: Target): void {
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const text = mutate(sample, seed);
    const began = performance.now();
    try {
      read(text);
    } catch (error) {
      if (!(error instanceof ForgeError)) throw new Error(`${name}, seed ${seed}: ${(error as Error).stack}`);
      expect(error.message, `${name}, seed ${seed}`).not.toBe('');
    }
    expect(performance.now() - began, `${name}, seed ${seed}`).toBeLessThan(HANG);
  }
}

describe('bytes that others wrote', () => {
  it.each(FIXED)('B-06 B-11 $name turns any bytes into a value or an error', attack);

  it('B-06 B-11 stored files with any bytes give a value or an error', async () => {
    for (const target of await storedTargets()) attack(target);
  });

  it('B-32 an agent’s hook answers any bytes without a crash', async () => {
    const project = await makeForge();
    await forgeJson(project, ['session', 'start', '--task', 'Login']);
    const sample = JSON.stringify({
      session_id: 's1',
      cwd: project.dir,
      hook_event_name: 'PreToolUse',
      tool_name: 'Read',
      tool_input: { file_path: project.path('README.md') },
    });
    const events = Object.keys(AGENTS.claude.events);
    for (let seed = 1; seed <= kills(20, 2000); seed++) {
      const event = events[seed % events.length] ?? '';
      const { exitCode, stderr } = await runForge(project, ['hook', 'claude', event], {
        stdin: mutate(sample, seed),
      });
      expect([exitCode, stderr], `seed ${seed}`).toEqual([
        expect.toSatisfy((code) => code !== 70),
        expect.not.stringContaining('This is a bug'),
      ]);
    }
  });
});
