import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Integrity, SupervisorReport } from '../../src/index.js';
import { recordId, TIERS, type Tier } from '../../src/ledger/rules/record.js';
import { forgeJson, type RunOptions, runForge } from './forge.js';
import { makeFolder, type Project } from './project.js';

/** A machine of its own: its keys and what it has seen. */
export const makeMachine = (): RunOptions => ({
  terminal: true,
  env: { XDG_CONFIG_HOME: makeFolder(), XDG_STATE_HOME: makeFolder() },
});

export const keyOf = ({ env }: RunOptions): string =>
  join(env?.XDG_CONFIG_HOME ?? '', 'forge/supervisor.pem');

export const initKey = (
  project: Project,
  machine: RunOptions,
  ...flags: string[]
): Promise<SupervisorReport> => forgeJson(project, ['supervisor', 'init', ...flags], machine);

export const seal = (
  project: Project,
  machine: RunOptions,
  ...flags: string[]
): Promise<{ seal: { id: string; n: number } | null; key: string }> =>
  forgeJson(project, ['memory', 'seal', ...flags], machine);

export type VerifiedSeals = Integrity & { exitCode: number | null; codes: string[] };

export async function verifySeals(project: Project, machine: RunOptions): Promise<VerifiedSeals> {
  const { stdout, stderr, exitCode } = await runForge(
    project,
    ['memory', 'verify', '--signatures', '--json'],
    machine,
  );
  if (stdout === '') throw new Error(stderr);
  const found = JSON.parse(stdout) as Integrity;
  return { ...found, exitCode, codes: found.problems.map(({ code }) => code) };
}

type Line = Record<string, unknown> & { tier: Tier; n: number; prev: string | null };
const fixedOf = (tier: Tier): string =>
  tier === 'notes' ? '.forge/memory/long-term/notes.jsonl' : `.forge/memory/${tier}.jsonl`;

function readAll(project: Project, tier: Tier): Line[] {
  const folder = `.forge/memory/${tier}.d`;
  const segments = readdirSync(project.path(folder)).filter((name) => name.endsWith('.jsonl'));
  const files = [fixedOf(tier), ...segments.map((name) => `${folder}/${name}`)];
  const texts = files.map((file) => readFileSync(project.path(file), 'utf8'));
  const lines = texts.join('').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Line).sort((a, b) => a.n - b.n);
}

/**
 * What somebody can do who writes everything that is in the repository and its git dir: every record that `change` lets
 * pass, with fresh links, in one commit without a past, and no journal, anchor or reflog that knew another.
 */
export function rewriteAll(project: Project, change: (record: Line) => Line | null): void {
  for (const tier of TIERS) {
    const lines: string[] = [];
    for (const { v: _v, tier: _t, n: _n, prev, seen: _s, salt: _salt, ledger, ...rest } of readAll(
      project,
      tier,
    )
      .map(change)
      .filter((line) => line !== null)) {
      const last = lines.at(-1);
      const links = { v: 1, tier, n: lines.length + 1, prev: last ? recordId(last) : null, seen: [] };
      lines.push(
        JSON.stringify({
          ...links,
          ...rest,
          ...(last ? {} : { ledger, prev }),
          ...(last ? {} : { prev: null }),
        }),
      );
    }
    project.write(fixedOf(tier), lines.map((line) => `${line}\n`).join(''));
    rmSync(project.path(`.forge/memory/${tier}.d`), { recursive: true });
    project.write(`.forge/memory/${tier}.d/.gitkeep`, '');
  }
  forgetAll(project);
}

/** Everything that knew another past. */
export function forgetAll(project: Project): void {
  rmSync(project.path('.git/forge'), { recursive: true, force: true });
  project.git('checkout', '-q', '--orphan', 'other');
  project.git('add', '-A');
  project.git('commit', '-qm', 'Begin');
  project.git('branch', '-q', '-M', 'main');
  project.git('reflog', 'expire', '--expire=now', '--all');
  project.git('gc', '-q', '--prune=now');
}
