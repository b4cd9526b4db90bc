import { commandEnvironment } from '../core/environment.js';
import { ForgeError } from '../core/error.js';
import { readTarget } from '../core/files.js';
import { LOG_TAIL_BYTES, type Log, lastBytes } from '../core/log-tail.js';
import { cycleFile, initScript } from '../core/paths.js';
import { type ProcessRun, runProcess } from '../core/process.js';
import { decodeUtf8 } from '../core/schema.js';
import { escapeControls } from '../core/text.js';
import { maskText, redactText } from '../guard/guard.js';
import { resolveCandidates } from '../learning/candidates.js';
import type { Context } from '../project/project.js';
import { brief, readLearned } from '../session/briefing.js';
import { showFocus } from '../session/focus.js';
import { requireTrust } from '../trust/trust.js';
import type { CycleFacts } from './facts.js';
import { builderEnvironment, describeCycle, fillHandover, type HandoverFolder } from './handover.js';
import type { CycleMark, RunWatch } from './mark.js';
import {
  MAX_OBSERVATION_BYTES,
  noObservations,
  type Observations,
  parseObservations,
} from './observation.js';

const INIT_TIMEOUT_MS = 10 * 60_000;

/** `init.sh` once it is trusted; null when there is none. */
export async function runInitScript(context: Context, watch: RunWatch): Promise<ProcessRun | null> {
  const { disk, layout, world } = context;
  const path = initScript(layout);
  if (!disk.exists(path)) return null;
  requireTrust(context, [], [path]);
  const options = {
    cwd: layout.root,
    env: { ...commandEnvironment(world.env), FORGE_ROLE: 'builder' },
    timeoutMs: INIT_TIMEOUT_MS,
    ...watch,
  };
  const run = await runProcess([path], options);
  // A checkout may have lost the permission to run it.
  return run.ended === 'not executable' ? runProcess(['sh', path], options) : run;
}

/** The briefing, and behind it what this cycle asks for. */
export async function writeBriefing(
  context: Context,
  task: string,
  { features, testFiles }: CycleFacts,
  folder: HandoverFolder,
): Promise<string> {
  const { text } = await brief(context, { format: 'markdown' });
  const whole = `${text}\n${describeCycle({
    task,
    feature: features.find(({ id }) => id === task),
    files: showFocus(context).files,
    testFiles: Object.keys(testFiles),
    candidates: readLearned(context).candidates,
  })}`;
  fillHandover(folder, whole);
  return whole;
}

/** The command, as a BUILDER with the caller's surroundings. */
export async function runCommand(
  { layout, world }: Context,
  mark: CycleMark,
  given: { argv: readonly string[]; timeoutMs: number; folder: HandoverFolder; briefing: string },
  watch: RunWatch,
): Promise<ProcessRun> {
  const { briefing, observations } = given.folder;
  const handover = { key: mark.key, task: mark.task_id, briefing, observations };
  return runProcess(given.argv, {
    cwd: layout.root,
    env: builderEnvironment(world.env, handover),
    input: given.briefing,
    timeoutMs: given.timeoutMs,
    ...watch,
  });
}

/** What the command left in FORGE_OBSERVATIONS, each line looked at by the guard. */
export function takeObservations(context: Context, { observations }: HandoverFolder): Observations {
  let text: string;
  try {
    text = decodeUtf8(readTarget(observations, MAX_OBSERVATION_BYTES) ?? Buffer.alloc(0), 'observations');
  } catch (error) {
    return noObservations(`observations: ${(error as Error).message} None was taken.`);
  }
  const { confirmed, ...taken } = parseObservations(text, (line) => whyRefused(context, line));
  for (const id of confirmed) {
    try {
      taken.patterns.push(...resolveCandidates(context, [id]));
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind !== 'usage') throw error;
      taken.problems.push(`observations: ${error.message}`);
    }
  }
  return taken;
}

/** Null for what may be stored. The reason names the rule, never the value. */
function whyRefused({ disk, layout }: Context, text: string): string | null {
  try {
    disk.checkContent(cycleFile(layout), Buffer.from(`${text}\n`));
    return null;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'secret') return `refused by the guard (${error.code})`;
    throw error;
  }
}

/** The end of the output as it may be stored: what the guard refuses in it is masked, or all of it left out. */
export async function guardLog(context: Context, log: Log): Promise<Log> {
  const shownTail = escapeControls(log.tail.replaceAll('\r\n', '\n'));
  const masked = await redactText(await maskText(shownTail));
  const tail = lastBytes(Buffer.from(masked, 'utf8'), LOG_TAIL_BYTES);
  if (masked !== shownTail)
    context.warnings.push('The command showed what may not be stored; its log is masked.');
  if (whyRefused(context, JSON.stringify({ tail })) === null) return { ...log, tail };
  context.warnings.push('The end of the output may not be stored; only its digest is kept.');
  return { ...log, tail: '' };
}

/** A text as it may be stored: as it is, with what the guard refuses masked, or named as left out. */
export async function guardText(context: Context, text: string): Promise<string> {
  const isFine = (shown: string): boolean => whyRefused(context, JSON.stringify({ text: shown })) === null;
  if (isFine(text)) return text;
  const masked = await redactText(await maskText(escapeControls(text)));
  return isFine(masked) ? masked : 'left out: it may not be stored';
}
