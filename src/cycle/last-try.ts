import { readHint, writeHint } from '../core/files.js';
import { triesFile } from '../core/paths.js';
import { lastBytes, oneLine } from '../core/text.js';
import type { Context } from '../project/project.js';
import { guardText } from './builder.js';
import type { Evaluation } from './evaluation.js';
import { hasFailed } from './rules.js';
import type { CycleRun } from './running.js';

const [MAX_TASKS, MAX_LINES, MAX_BYTES] = [10, 40, 2048];

/** How the last cycle of each task failed, in lines, the oldest task first. */
const readTries = ({ layout }: Context): Record<string, string[]> => readHint(triesFile(layout)) ?? {};

export const readLastTry = (context: Context, task: string): string[] =>
  [readTries(context)[task] ?? []].flat().map(String);

/** Keeps how the task failed for the next builder's briefing, or forgets it. The file may be lost. */
export async function keepLastTry(run: CycleRun, evaluation: Evaluation): Promise<void> {
  const { context, task } = run;
  const { passes, classification, failed } = evaluation;
  const { [task]: _, ...others } = readTries(context);
  const tries = Object.entries(others).slice(1 - MAX_TASKS);
  if (!passes && (hasFailed(classification) || failed))
    tries.push([task, await describeTry(run, evaluation)]);
  if (tries.length === 0) context.disk.remove(triesFile(context.layout));
  else writeHint(triesFile(context.layout), Object.fromEntries(tries));
}

async function describeTry(
  { context, stages }: CycleRun,
  { classification, found, failed }: Evaluation,
): Promise<string[]> {
  const notes = stages.flatMap(({ name, status, note }) => (status === 'failed' ? [`${name}: ${note}`] : []));
  const lines = (await guardText(context, failed?.output ?? '')).trimEnd().split('\n').slice(-MAX_LINES);
  const output = lastBytes(Buffer.from(lines.join('\n')), MAX_BYTES);
  return [
    classification,
    ...found.governance_violations.slice(0, 10).map((text) => `Violation: ${text}`),
    ...found.regression_flags.slice(0, 10).map((id) => `Regression: ${id} passed before`),
    ...notes,
    ...(failed ? [`Failed: ${failed.command} (${failed.id}, ${failed.failure ?? failed.not_run})`] : []),
  ]
    .map((text) => oneLine(text, 300))
    .concat(output === '' ? [] : `The end of its output:\n${output}`);
}
