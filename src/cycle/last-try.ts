import { readHint, writeHint } from '../core/files.js';
import { triesFile } from '../core/paths.js';
import { lastBytes, oneLine } from '../core/text.js';
import type { FeatureResult } from '../feature/verify.js';
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

/** Keeps how the task failed, and what it broke, for the briefings of those tasks, or forgets it. The file may be lost. */
export async function keepLastTry(run: CycleRun, evaluation: Evaluation): Promise<void> {
  const { context, task } = run;
  const { passes, classification, failures } = evaluation;
  const { [task]: _, ...others } = readTries(context);
  const tries = new Map(Object.entries(others));
  for (const failed of failures.filter(({ id }) => id !== task))
    tries.set(failed.id, [
      `It passed before, and the cycle of ${task} broke it`,
      ...(await describeRun(run, failed)),
    ]);
  if (!passes && (hasFailed(classification) || failures.length > 0))
    tries.set(task, await describeTry(run, evaluation));
  const file = triesFile(context.layout);
  if (tries.size === 0) context.disk.remove(file);
  else writeHint(file, Object.fromEntries([...tries].slice(-MAX_TASKS)));
}

async function describeTry(
  run: CycleRun,
  { classification, found, failures }: Evaluation,
): Promise<string[]> {
  const notes = run.stages.flatMap(({ name, status, note }) =>
    status === 'failed' ? [`${name}: ${note}`] : [],
  );
  const [failed] = failures;
  return [
    ...[
      classification,
      ...found.governance_violations.slice(0, 10).map((text) => `Violation: ${text}`),
      ...found.regression_flags.slice(0, 10).map((id) => `Regression: ${id} passed before`),
      ...notes,
    ].map((text) => oneLine(text, 300)),
    ...(failed ? await describeRun(run, failed) : []),
  ];
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
