import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { outside, systemCode } from '../core/error.js';
import { oneLine } from '../core/text.js';
import type { Feature } from '../feature/rules.js';
import type { PatternCandidate } from '../learning/candidates.js';
import { SCOPES } from '../learning/evaluation.js';
import { describeCandidate } from '../learning/proven.js';

/** What a command gets its briefing in, and leaves its observations in: a folder that only this user may enter. */
export interface HandoverFolder {
  path: string;
  briefing: string;
  observations: string;
}

export function makeHandover(key: string): HandoverFolder {
  const path = folderOf(key);
  // Fails where somebody was there first.
  orOutside(() => fs.mkdirSync(path, { mode: 0o700 }));
  const folder = {
    path,
    briefing: join(path, 'briefing.md'),
    observations: join(path, 'observations.jsonl'),
  };
  // A disk that is full says so before anything is run.
  fillHandover(folder, '');
  return folder;
}

export function fillHandover({ briefing, observations }: HandoverFolder, text: string): void {
  orOutside(() => {
    fs.writeFileSync(briefing, text, { mode: 0o600 });
    fs.writeFileSync(observations, '', { mode: 0o600 });
  });
}

function orOutside(write: () => void): void {
  try {
    write();
  } catch (error) {
    const why = systemCode(error) ?? (error as Error).message;
    throw outside('cycle.folder', `The folder for the command could not be made in ${tmpdir()}: ${why}.`, {
      hint: 'TMPDIR=/tmp forge cycle -- COMMAND   # TMPDIR must name a folder that you may write to',
      cause: error,
    });
  }
}

const folderOf = (key: string): string => join(tmpdir(), `forge-cycle-${key}`);

/** By the cycle's key: what a kill left is found as well. */
export function removeHandover(key: string): void {
  const path = folderOf(key);
  try {
    if (fs.lstatSync(path).isDirectory()) fs.rmSync(path, { recursive: true, force: true });
  } catch {
    // The system clears its folder itself.
  }
}

/** Variables that only the caller's own forge may see: an approval, and another project folder. */
const OWN_KEYS: ReadonlySet<string> = new Set(['FORGE_TRUST', 'FORGE_DIR']);

/** The caller's environment without forge's own keys, and as a BUILDER: for whatever runs what a builder wrote. */
export function asBuilder(env: Record<string, string | undefined>): Record<string, string> {
  const passed = Object.entries(env).filter(([name, value]) => value !== undefined && !OWN_KEYS.has(name));
  return { ...(Object.fromEntries(passed) as Record<string, string>), FORGE_ROLE: 'builder' };
}

/** The same as the command gets it. */
export const builderEnvironment = (
  env: Record<string, string | undefined>,
  { key, task, briefing, observations }: { key: string; task: string } & Omit<HandoverFolder, 'path'>,
): Record<string, string> => ({
  ...asBuilder(env),
  FORGE_CYCLE: key,
  FORGE_TASK: task,
  FORGE_BRIEFING: briefing,
  FORGE_OBSERVATIONS: observations,
});

/** What a builder needs to know about its cycle. */
interface BuilderTask {
  task: string;
  feature: Feature | undefined;
  /** In focus. */
  files: readonly string[];
  /** As far as the commands of the tests name them. */
  testFiles: readonly string[];
  candidates: readonly PatternCandidate[];
}

/** Quoted, because words of the project are data. */
const quote = (text: string): string => JSON.stringify(oneLine(text, 300));
const list = (name: string, texts: readonly string[]): string[] =>
  texts.length === 0 ? [] : [`- ${name}: ${texts.slice(0, 20).map(quote).join(', ')}`];

/** GOV-05: the task, what it is judged by, what a builder may not do, and how it reports what it noticed. */
export function describeCycle({ task, feature, files, testFiles, candidates }: BuilderTask): string {
  const tests = feature?.tests ?? [];
  return [
    '## Your cycle',
    '',
    `- Task: ${quote(feature ? `${feature.id}: ${feature.name}` : task)}`,
    ...list('Test', tests),
    ...list('Files in focus', files),
    ...list('Test files', testFiles),
    '',
    tests.length > 0
      ? 'When you are done, forge runs these tests and everything that passed before. The results decide, not your report.'
      : 'This task has no test, so the cycle is a partial success at best. forge reruns what passed before.',
    '',
    'You may not',
    '- change .forge/config.toml, .forge/init.sh, scripts in .forge/ or the tests of features: a violation of the rules.',
    '- write memory (memory record, promote, consolidate), make checkpoints, roll back, or change trust and hooks: refused, and recorded as a breach.',
    '- edit test files to make them pass: the cycle is then a partial success at best.',
    '',
    'Report what the next cycle should know, one JSON object per line:',
    `    echo '{"pattern":"the e2e tests need port 0"}' >> "$FORGE_OBSERVATIONS"`,
    `Its scope is ${SCOPES[0]} unless you add "scope": ${SCOPES.slice(1).join(', ')}. Add "holds": false for something that did not hold.`,
    'forge end --learned "TEXT" and forge note add "TEXT" report the same way.',
    ...(candidates.length === 0
      ? []
      : [
          '',
          'Open candidates. Confirm one that you saw again, in whatever words:',
          ...candidates.map((candidate) => `- ${quote(describeCandidate(candidate))}`),
          `    echo '{"confirm":"${candidates[0]?.id}"}' >> "$FORGE_OBSERVATIONS"`,
        ]),
    '',
  ].join('\n');
}
