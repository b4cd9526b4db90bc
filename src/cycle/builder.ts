import { join } from 'node:path';
import * as z from 'zod/mini';
import { commandEnvironment } from '../core/environment.js';
import { ForgeError, SyntaxProblem } from '../core/error.js';
import { readTarget } from '../core/files.js';
import { parseJson } from '../core/json.js';
import { builderFolder, cycleFile, initScript, type Layout } from '../core/paths.js';
import { type ProcessOptions, type ProcessRun, runProcess } from '../core/process.js';
import { checkInput, decodeUtf8 } from '../core/schema.js';
import { escapeControls, lastBytes, oneLine, plural } from '../core/text.js';
import { taskLine } from '../feature/tasks.js';
import { maskText, redactText } from '../guard/guard.js';
import { type CycleInput, SCOPES } from '../learning/evaluation.js';
import { type PatternCandidate, resolveCandidates } from '../learning/knowledge.js';
import { describeCandidate } from '../learning/proven.js';
import { type Context, warnOnce } from '../project/project.js';
import { brief, readLearned } from '../session/briefing.js';
import { isAbout, NO_FOCUS } from '../session/rules.js';
import { showFocus } from '../session/running.js';
import { requireTrust } from '../trust/trust.js';
import { type CycleFacts, NO_TASK } from './rules.js';

type RunWatch = Pick<ProcessOptions, 'onOutput' | 'stop'>;

const briefingFile = (layout: Layout): string => join(builderFolder(layout), 'briefing.md');
const observationsFile = (layout: Layout): string => join(builderFolder(layout), 'observations.jsonl');

/** The caller's environment without forge's own keys, as a BUILDER: for everything that runs what a builder wrote. */
export function asBuilder(env: Record<string, string | undefined>): Record<string, string> {
  const { FORGE_TRUST: _trust, FORGE_DIR: _folder, ...passed } = env;
  return { ...(passed as Record<string, string>), FORGE_ROLE: 'builder' };
}

const INIT_TIMEOUT_MS = 10 * 60_000;

/** Runs `init.sh` if it is trusted. Null when there is none. */
export async function runInitScript(context: Context, watch: RunWatch): Promise<ProcessRun | null> {
  const { disk, layout, world } = context;
  const path = initScript(layout);
  if (!disk.exists(path)) return null;
  requireTrust(context, [], [path]);
  const env = { ...commandEnvironment(world.env), FORGE_ROLE: 'builder' };
  const options = { cwd: layout.root, env, timeoutMs: INIT_TIMEOUT_MS, ...watch };
  const run = await runProcess([path], options);
  // A checkout may have lost the executable bit.
  return run.ended === 'not executable' ? runProcess(['sh', path], options) : run;
}

/** The briefing and the builder's instructions for this cycle. */
export async function briefBuilder(
  context: Context,
  task: string,
  { features, testFiles }: CycleFacts,
  lastTry: readonly string[],
): Promise<string> {
  const feature = features.find(({ id }) => id === task);
  const title = feature ? taskLine({ id: task, title: feature.name }) : task;
  const shown = showFocus(context);
  const isShown = task === NO_TASK || isAbout(shown, task);
  const focus = isShown ? shown : { ...NO_FOCUS, task: title };
  const { text } = await brief(context, { format: 'markdown' }, { focus, lastTry });
  const lines = [
    `- Task: ${quote(title)}`,
    ...list('Test', feature?.tests ?? []),
    ...list('Files in focus', focus.files),
    ...list('Test files', Object.keys(testFiles)),
  ];
  return `${text}\n${instruct(lines, feature?.tests?.length ? TESTED : UNTESTED, readLearned(context).candidates)}`;
}

/** Runs the command as a BUILDER in the caller's environment. */
export async function runCommand(
  { disk, layout, world }: Context,
  { key, task_id }: { key: string; task_id: string },
  { argv, briefing, ...options }: { argv: readonly string[]; timeoutMs: number; briefing: string } & RunWatch,
): Promise<ProcessRun> {
  // One cycle runs here at a time. These may be the files of a killed one.
  disk.replaceMoved(briefingFile(layout), Buffer.from(briefing));
  disk.replaceMoved(observationsFile(layout), Buffer.alloc(0));
  const own = { FORGE_CYCLE: key, FORGE_TASK: task_id };
  const files = { FORGE_BRIEFING: briefingFile(layout), FORGE_OBSERVATIONS: observationsFile(layout) };
  const env = { ...asBuilder(world.env), ...own, ...files };
  return runProcess(argv, { cwd: layout.root, env, input: briefing, ...options });
}

/** Quotes text of the project, which is data. */
const quote = (text: string): string => JSON.stringify(oneLine(text, 300));
const list = (name: string, texts: readonly string[]): string[] =>
  texts.length === 0 ? [] : [`- ${name}: ${texts.slice(0, 20).map(quote).join(', ')}`];

const TESTED =
  'When you are done, forge runs these tests and everything that passed before. The results decide, not your report.';
const UNTESTED =
  'This task has no test, so the cycle is a partial success at best. forge reruns what passed before.';

/** GOV-05: the task, how it is judged, what a builder may not do, and how to report an observation. */
function instruct(task: string[], judgment: string, candidates: readonly PatternCandidate[]): string {
  const [candidate] = candidates;
  return [
    ...['## Your cycle', '', ...task, '', judgment, ''],
    'You may not',
    '- change .forge/config.toml, .forge/init.sh, scripts in .forge/ or the tests of features: a violation of the rules.',
    '- write memory (memory record, promote, consolidate), make checkpoints, roll back, or change trust and hooks: refused, and recorded as a breach.',
    '- edit test files to make them pass: the cycle is then a partial success at best.',
    '',
    'Report what the next cycle should know, one JSON object per line:',
    `    echo '{"pattern":"the e2e tests need port 0"}' >> "$FORGE_OBSERVATIONS"`,
    `Its scope is ${SCOPES[0]} unless you add "scope": ${SCOPES.slice(1).join(', ')}. Add "holds": false for something that did not hold.`,
    'forge learn "TEXT" --as success reports the same way. For a question that only a person can answer: forge note add "For a person: TEXT".',
    ...(candidate
      ? [
          '',
          'Open candidates. Confirm one that you observed again, in any wording:',
          ...candidates.map((one) => `- ${quote(describeCandidate(one))}`),
          `    echo '{"confirm":"${candidate.id}"}' >> "$FORGE_OBSERVATIONS"`,
        ]
      : []),
    '',
  ].join('\n');
}

const MAX_OBSERVATION_BYTES = 64 * 1024;
const MAX_LINES = 100;

/** Takes the lines that the command left in FORGE_OBSERVATIONS. The guard checks each. */
export function takeObservations(context: Context): Observations {
  const { disk, layout } = context;
  let text: string;
  try {
    const bytes = readTarget(observationsFile(layout), MAX_OBSERVATION_BYTES) ?? Buffer.alloc(0);
    text = decodeUtf8(bytes, 'observations');
  } catch (error) {
    return { ...noObservations(), problems: [`observations: ${(error as Error).message} None was used.`] };
  } finally {
    for (const path of [briefingFile(layout), observationsFile(layout)]) disk.remove(path);
  }
  const found = parseObservations(text, (line) => whyRefused(context, line));
  for (const id of found.confirmed) {
    try {
      found.patterns.push(...resolveCandidates(context, [id]));
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind !== 'usage') throw error;
      found.problems.push(`observations: ${error.message}`);
    }
  }
  return found;
}

/** Why a text may not be stored, null if it may. The reason names the rule, never the value. */
function whyRefused({ disk, layout }: Context, text: string): string | null {
  try {
    disk.checkContent(cycleFile(layout), Buffer.from(`${text}\n`));
    return null;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'secret') return `refused by the guard (${error.code})`;
    throw error;
  }
}

/** The end of a text as it may be stored: masked where the guard refuses it, or left out. */
export async function guardText(context: Context, text: string): Promise<string> {
  const plain = escapeControls(text.replaceAll('\r\n', '\n'));
  const masked = await redactText(await maskText(plain));
  const tail = lastBytes(Buffer.from(masked, 'utf8'));
  if (masked !== plain) warnOnce(context, 'Parts of the output may not be stored; they are masked.');
  if (whyRefused(context, JSON.stringify({ tail })) === null) return tail;
  warnOnce(context, 'The end of the output may not be stored; only its digest is kept.');
  return '';
}

const Line = z.string().check(z.minLength(1), z.maxLength(2000));
const Pattern = z.strictObject({
  pattern: Line,
  scope: z._default(z.enum(SCOPES), SCOPES[0]),
  holds: z.optional(z.boolean()),
});
const Confirmation = z.strictObject({ confirm: Line });
const Note = z.strictObject({ note: Line });

export interface Observations {
  patterns: NonNullable<CycleInput['patterns']>;
  confirmed: string[];
  notes: string[];
  /** What was left out, and why: `line 3: …`. */
  problems: string[];
}

export const noObservations = (): Observations => ({ patterns: [], confirmed: [], notes: [], problems: [] });

/** Parses JSONL strictly. A bad line does not affect the others. `refuse` says why a line may not be stored, or null. */
export function parseObservations(text: string, refuse: (line: string) => string | null): Observations {
  const result = noObservations();
  const lines = text.split('\n').flatMap((line, i) => (line.trim() === '' ? [] : [{ line, at: i + 1 }]));
  for (const { line, at } of lines.slice(0, MAX_LINES)) {
    const problem = refuse(line) ?? addLine(result, line);
    if (problem !== null) result.problems.push(`observations, line ${at}: ${problem}`);
  }
  const more = lines.length - MAX_LINES;
  if (more > 0)
    result.problems.push(`observations: ${plural(more, 'line')} after the first ${MAX_LINES} left out`);
  return result;
}

function addLine(result: Observations, line: string): string | null {
  try {
    const value = parseJson(line);
    const has = (field: string): boolean => typeof value === 'object' && value !== null && field in value;
    if (has('confirm')) result.confirmed.push(checkInput(Confirmation, value).confirm);
    else if (has('note')) result.notes.push(checkInput(Note, value).note);
    else result.patterns.push(checkInput(Pattern, value));
    return null;
  } catch (error) {
    if (error instanceof SyntaxProblem || error instanceof ForgeError)
      return error.message.replace(/\.$/, '');
    throw error;
  }
}
