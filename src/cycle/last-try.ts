import * as z from 'zod/mini';
import { readHint, writeHint } from '../core/files.js';
import { triesFile } from '../core/paths.js';
import { lastBytes, oneLine } from '../core/text.js';
import type { FeatureResult } from '../feature/verify.js';
import type { Context } from '../project/project.js';
import { guardText } from './builder.js';
import type { Evaluation } from './evaluation.js';
import { hasFailed } from './rules.js';
import type { CycleRun } from './running.js';

const [MAX_TASKS, MAX_LINES, MAX_BYTES] = [50, 40, 2048];

/** By task: how many cycles in a row did not make it pass, and how the last one failed. The last tried task is last. */
const Tries = z.record(z.string(), z.object({ times: z.int(), lines: z.array(z.string()) }));

const readTries = ({ layout }: Context) => Tries.safeParse(readHint(triesFile(layout))).data ?? {};

export const readLastTry = (context: Context, task: string): string[] =>
  readTries(context)[task]?.lines ?? [];

/** GOV-02: tasks that two cycles in a row did not make pass. They wait for the others. */
export const triedTwice = (context: Context): string[] =>
  Object.entries(readTries(context)).flatMap(([task, { times }]) => (times < 2 ? [] : task));

/** Keeps how the task failed for its next briefing, or forgets it. The file may be lost. */
export async function keepLastTry(run: CycleRun, evaluation: Evaluation): Promise<void> {
  const { context, task } = run;
  const { [task]: before, ...others } = readTries(context);
  const tries = Object.entries(others);
  if (!evaluation.passes)
    tries.push([task, { times: (before?.times ?? 0) + 1, lines: await describeTry(run, evaluation) }]);
  const file = triesFile(context.layout);
  if (tries.length === 0) context.disk.remove(file);
  else writeHint(file, Object.fromEntries(tries.slice(-MAX_TASKS)));
}

async function describeTry(run: CycleRun, { classification, found, failed }: Evaluation): Promise<string[]> {
  if (!hasFailed(classification) && !failed) return [];
  const stages = run.stages.filter(({ status }) => status === 'failed');
  const lines = [
    classification,
    ...found.governance_violations.slice(0, 10).map((text) => `Violation: ${text}`),
    ...found.regression_flags.slice(0, 10).map((id) => `Regression: ${id} passed before`),
    ...stages.map(({ name, note }) => `${name}: ${note}`),
  ];
  return [...lines.map((text) => oneLine(text, 300)), ...(failed ? await describeRun(run, failed) : [])];
}

async function describeRun({ context }: CycleRun, failed: FeatureResult): Promise<string[]> {
  const { id, command, failure, not_run, output = '' } = failed;
  const lines = (await guardText(context, output)).trimEnd().split('\n').slice(-MAX_LINES);
  const tail = lastBytes(Buffer.from(lines.join('\n')), MAX_BYTES);
  return [
    oneLine(`Failed: ${command} (${id}, ${failure ?? not_run})`, 300),
    ...(tail === '' ? [] : [`The end of its output:\n${tail}`]),
  ];
}
