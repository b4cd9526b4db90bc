import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { forgeJson, runBinary, SLOW_MOTION } from '../support/forge.js';
import { makeStarted, putFeatures } from '../support/forge-project.js';
import type { Project } from '../support/project.js';
import { has, INTERACTIVE, typeInto } from '../support/terminal.js';

/** Features that a clone may bring along. What a shell would run leaves a file `pwned`. */
const HOSTILE = [
  'X-1 two  words',
  `X-2$(touch pwned)\`touch pwned\`$\{PATH}`,
  `X-3'q"u;touch pwned;`,
  'X-4\nnewline',
  'X-5\u001b]0;title\u0007',
  '--zap',
];

const put = (project: Project, ids: readonly string[]): void =>
  putFeatures(
    project,
    ids.map((id) => ({ id, name: `$(touch pwned) %F{red}\u001b[2J ${id}`, status: 'not_implemented' })),
  );

async function hostileProject(): Promise<Project> {
  const project = await makeStarted();
  await forgeJson(project, ['kfr', 'patch', '--goal', 'one']);
  put(project, ['P-1', 'P-2', 'Gross']);
  project.write('a file $(touch pwned).json', '{}');
  mkdirSync(project.path('a folder'));
  mkdirSync(project.path('.forge', 'skills', 's$(touch pwned) x'));
  return project;
}

const shells = Object.keys(INTERACTIVE) as (keyof typeof INTERACTIVE)[];
const canType = has('script');
if (!canType) process.stderr.write('SKIPPED: completion at a terminal; there is no program "script" here.\n');
for (const shell of shells)
  if (!has(shell)) process.stderr.write(`SKIPPED: completion in ${shell}, which is not installed here.\n`);

describe('completion at a terminal', () => {
  for (const shell of shells)
    it.skipIf(!canType || !has(shell))(
      `B-04 B-06 B-42 ${shell} inserts plain names, and runs nothing of others`,
      async () => {
        const project = await hostileProject();
        const plain = await typeInto(INTERACTIVE[shell], project, [
          'forge feature show Gr\t',
          'forge feature show "Gr\t',
          "forge feature show 'Gr\t",
        ]);
        for (const line of plain.words)
          expect(line.slice(0, 4)).toEqual(['forge', 'feature', 'show', 'Gross']);
        put(project, HOSTILE);
        const { words, screen } = await typeInto(INTERACTIVE[shell], project, [
          'forge feature show X-2\t',
          'forge feature show --z\t',
          'forge feature show X-\t\t\t',
        ]);
        expect(words.map((line) => line[3])).toEqual(['X-2', '--z', 'X-']);
        expect(project.has('pwned')).toBe(false);
        expect(screen).not.toContain('\u001b[2J ');
        expect(screen).not.toContain('\u001b]0;title');
      },
    );

  for (const shell of shells)
    it.skipIf(!canType || !has(shell))(`${shell} completes commands, flags, values and paths`, async () => {
      const project = await hostileProject();
      const lines: [keys: string, last: string][] = [
        ['forge sess\t', 'session'],
        ['forge feature sho\t', 'show'],
        ['forge feature edit X --stat\t', '--status'],
        ['forge feature edit X --status not\t', 'not_implemented'],
        ['forge feature edit X --status=not\t', '--status=not_implemented'],
        ['forge kfr patch --resolve kfr\t', 'kfr-1'],
        ['forge note promote k\t', 'kfr-1'],
        ['forge memory record a\\ fi\t', 'a file $(touch pwned).json'],
        ['forge memory record --log=a\\ fi\t', '--log=a file $(touch pwned).json'],
        ['forge -C a\\ fo\t', 'a folder'],
        ['forge help exit\t', 'exit-codes'],
        ['forge complete z\t', 'zsh'],
        ['forge nosuch x\t', 'x'],
      ];
      const known = lines;
      const { words } = await typeInto(
        INTERACTIVE[shell],
        project,
        known.map(([keys]) => keys),
      );
      expect(words.map((line) => line.at(-1)?.replace(/\/$/, ''))).toEqual(known.map(([, last]) => last));
      expect(project.has('pwned')).toBe(false);
    });

  it.skipIf(!canType || !has('bash'))(
    'bash lists ids, and inserts none where several begin alike',
    async () => {
      const project = await hostileProject();
      const { words, screen } = await typeInto(INTERACTIVE.bash, project, ['forge feature show P-\t\t\t']);
      expect(words[0]?.at(-1)).toBe('P-');
      expect(screen).toMatch(/^P-1/m);
      expect(screen).not.toContain('not_implemented');
    },
  );

  it.skipIf(!has('fish'))('fish takes commands from the script', async () => {
    const project = await hostileProject();
    const script = `${runBinary(project.dir, ['complete', 'fish']).stdout}\ncomplete -C 'forge fea'\n`;
    const bin = project.path('bin');
    mkdirSync(bin);
    writeFileSync(
      `${bin}/forge`,
      `#!/bin/sh\nexec '${process.execPath}' '${process.cwd()}/bin/forge.js' "$@"\n`,
      {
        mode: 0o755,
      },
    );
    const { stdout } = spawnSync('fish', ['--no-config', '-c', script], {
      cwd: project.dir,
      encoding: 'utf8',
      env: { ...process.env, ...SLOW_MOTION, PATH: `${bin}:${process.env.PATH}` },
    });
    expect(stdout).toBe('feature\n');
  });

  it.skipIf(!canType || !has('bash'))('a ./forge that came with a clone is not run', async () => {
    const project = await hostileProject();
    project.write('forge', '#!/bin/sh\ntouch pwned\n');
    const { words } = await typeInto(INTERACTIVE.bash, project, ['./forge feature sho\t']);
    expect(words[0]).toEqual(['./forge', 'feature', 'show']);
    expect(project.has('pwned')).toBe(false);
  });
});
