import { sep } from 'node:path';
import { ForgeError, outside, toForgeError, usage } from '../core/error.js';
import { replaceFiles } from '../core/files.js';
import { withRescue } from '../doctor/rescue.js';
import type { Context } from '../project/project.js';
import {
  fromTop,
  lookAtCheckpoints,
  lookAtCommits,
  lookAtFeatures,
  lookAtMemory,
  lookForSecrets,
} from './checks.js';
import { junit } from './log.js';
import { type CiRange, findRange } from './range.js';
import {
  CI_CAUSES,
  CI_CHECKS,
  type CiCheck,
  type CiCheckName,
  type CiReport,
  type Looked,
  looked,
  skipped,
} from './rules.js';

export { ciTemplate } from '../core/templates.js';

export interface CiInput {
  /** `A..B`; default: what the CI's variables say. */
  range?: string;
  /** Run the tests of features that are said to pass. */
  run?: boolean;
  /** The `--json` of an earlier `forge guard scan`, absolute: its findings are known. */
  baseline?: string;
  /** Where the report is to be written as JUnit's XML, absolute. */
  junit?: string;
}

export interface CiWatch {
  onCheck?(check: CiCheck): void;
  /** Of all checks. */
  onProgress?(done: number, total: number): void;
  /** A test is about to run. */
  onStart?(feature: string, command: string): void;
  signal?: AbortSignal;
}

/** GIT-07: everything that a pipeline can judge, one check after the other, whatever the ones before found. Changes nothing of what it judges. */
export async function checkAll(
  context: Context,
  input: CiInput = {},
  watch: CiWatch = {},
): Promise<CiReport> {
  if (input.junit !== undefined) checkPlace(context, input.junit);
  const range = await findRange(context, input.range).catch((error) => unlessUsage(error));
  const looks = looksOf(context, range, input, watch);
  const checks: CiCheck[] = [];
  for (const [i, name] of CI_CHECKS.entries()) {
    watch.onProgress?.(i, CI_CHECKS.length);
    const check = { name, ...(await looks[name]().catch((error) => faultOf(context, error, watch.signal))) };
    if (watch.signal?.aborted) throw stopped();
    checks.push(check);
    watch.onCheck?.(check);
  }
  const known = range instanceof ForgeError ? null : range;
  const report: CiReport = {
    ok: checks.every(({ state }) => state !== 'failed'),
    range: known?.shown ?? null,
    range_from: known?.from ?? null,
    checks,
    // Said as a part of the answer, where no line of them can be taken for a command.
    notes: context.warnings.splice(0),
  };
  if (input.junit !== undefined) writeJunit(input.junit, report);
  return report;
}

type Looks = Record<CiCheckName, () => Promise<Looked>>;

function looksOf(
  context: Context,
  range: CiRange | ForgeError | null,
  input: CiInput,
  watch: CiWatch,
): Looks {
  const inRange = (look: (found: CiRange) => Promise<Looked>) => async (): Promise<Looked> => {
    if (range instanceof ForgeError) throw range;
    if (!range) return skipped(context.git ? 'there is no commit yet' : 'there is no git repository');
    return range.ids.size === 0 ? skipped(`no commit is in ${range.shown} (${range.from})`) : look(range);
  };
  return {
    commits: inRange((found) => lookAtCommits(context, found)),
    memory: () => lookAtMemory(context),
    guard: inRange((found) => lookForSecrets(context, found, input.baseline)),
    features: () => lookAtFeatures(context, input.run ?? false, watch),
    checkpoints: () => lookAtCheckpoints(context, range instanceof ForgeError ? null : range),
  };
}

/** Of what is wrong with a range, a wrong word is the caller's; all else is told by the checks that need one. */
function unlessUsage(thrown: unknown): ForgeError {
  const error = toForgeError(thrown);
  if (error.kind === 'usage') throw error;
  return error;
}

/** What keeps one check from looking is a finding of that check, and no reason to leave out the others. */
async function faultOf(context: Context, thrown: unknown, signal?: AbortSignal): Promise<Looked> {
  if (signal?.aborted) throw stopped();
  const error = toForgeError(await withRescue(context, toForgeError(thrown)));
  // A bug of forge is no reason to lose what the other checks find.
  const cause = CI_CAUSES.find((kind) => error.kind === kind) ?? 'outside';
  const { file, line } = error.details;
  const fix = error.hint === undefined || error.kind === 'bug' ? {} : { fix: error.hint };
  const finding = { message: error.message, ...fix, ...fromTop(context, file, line) };
  return looked('could not be looked at', [finding], cause);
}

const stopped = (): Error =>
  new ForgeError('interrupted', 'interrupted', 'Interrupted; the checks are incomplete.');

/** Refuse to overwrite files of memory or of git. */
function checkPlace({ layout, repository }: Context, path: string): void {
  const kept = [layout.dir, repository?.gitDir, repository?.commonDir];
  if (kept.every((folder) => folder === undefined || !`${path}${sep}`.startsWith(folder + sep))) return;
  throw usage('ci.junit', `${path} is inside .forge/ or .git/.`, {
    hint: 'forge ci --junit forge-ci.xml',
  });
}

/** Whole or not at all. It is no file of forge's, so what is wrong with its place is no damage. */
function writeJunit(path: string, report: CiReport): void {
  try {
    replaceFiles([{ path, bytes: Buffer.from(junit(report)) }]);
  } catch (cause) {
    throw outside('ci.junit', `The report could not be written: ${(cause as Error).message}`, {
      file: path,
      cause,
    });
  }
}
