import { isAbsolute, join } from 'node:path';
import { verifyCheckpoints } from '../checkpoint/read.js';
import { checkRange, type RangeCommit, readMessageRules } from '../commit/check.js';
import { formatArgv, splitCommand } from '../core/argv.js';
import { ForgeError, toForgeError } from '../core/error.js';
import { checkpointFile, featureFile, shown, shownFrom, skillsFolder } from '../core/paths.js';
import { whyFailed } from '../core/process.js';
import { oneLine, plural } from '../core/text.js';
import { memoryReaders } from '../doctor/checks.js';
import { findConflicts } from '../doctor/conflicts.js';
import { withRescue } from '../doctor/rescue.js';
import { passedWithLostCode, presentCommands } from '../feature/feature.js';
import { type Feature, isProven } from '../feature/rules.js';
import { readFeatures } from '../feature/store.js';
import { runTests, type VerificationRun, type VerifyWatch, whyNotRun } from '../feature/verify.js';
import { findRemote, ORIGIN } from '../git/remote.js';
import { isShallow } from '../git/repository.js';
import { scanTree } from '../guard/scan-tree.js';
import { notesOf, problemsOf, statusOf, verifyReadOnly } from '../ledger/integrity.js';
import { readRecords } from '../ledger/memory.js';
import { type Context, findTracked, readConfig, readHalt } from '../project/project.js';
import { requireSkill } from '../skill/skill.js';
import { howToApprove, trustValueOf } from '../trust/trust.js';
import { type CiRange, findRange, isFromFork } from './range.js';
import {
  CI_CAUSES,
  CI_CHECKS,
  type CiCause,
  type CiCheck,
  type CiCheckName,
  type CiFinding,
  type CiReport,
} from './report.js';

export { ciTemplate } from '../core/templates.js';

export interface CiInput {
  /** `A..B`; default: the range of the CI's variables. */
  range?: string | undefined;
  run?: boolean | undefined;
  /** The absolute path of an earlier `forge guard scan --json`, whose findings are known. */
  baseline?: string | undefined;
}

export interface CiWatch {
  onCheck?(check: CiCheck): void;
  onProgress?(done: number, total: number): void;
  onStart?(feature: string, command: string): void;
  signal?: AbortSignal;
}

type Result = Omit<CiCheck, 'name'>;

/** Fails if a finding is not a warning. */
export function toResult(detail: string, findings: CiFinding[] = [], cause: CiCause = 'findings'): Result {
  if (findings.some(({ warning }) => !warning)) return { state: 'failed', cause, detail, findings };
  return { state: findings.length > 0 ? 'warned' : 'ok', detail, findings };
}

export const skipped = (detail: string): Result => ({ state: 'skipped', detail, findings: [] });

/** GIT-07: makes all checks, whatever the first ones find. Changes nothing. */
export async function checkAll(
  context: Context,
  input: CiInput = {},
  watch: CiWatch = {},
): Promise<CiReport> {
  const found = await findRange(context, input.range).catch((thrown) => {
    const error = toForgeError(thrown);
    if (error.kind === 'usage') throw error;
    return error;
  });
  const range = found instanceof ForgeError ? null : found;
  const inRange = (check: (range: CiRange) => Promise<Result>) => async (): Promise<Result> => {
    if (found instanceof ForgeError) throw found;
    if (!found) return skipped(context.git ? 'there is no commit yet' : 'there is no git repository');
    return found.ids.size === 0 ? skipped(`${found.shown} (${found.from}) is empty`) : check(found);
  };
  const run: Record<CiCheckName, () => Promise<Result>> = {
    commits: inRange((one) => checkCommits(context, one)),
    memory: () => checkMemory(context),
    guard: inRange((one) => checkSecrets(context, one, input.baseline)),
    features: () => checkFeatures(context, range, input.run ?? false, watch),
    checkpoints: () => checkCheckpoints(context, range),
  };
  const checks: CiCheck[] = [];
  for (const [i, name] of CI_CHECKS.entries()) {
    watch.onProgress?.(i, CI_CHECKS.length);
    const result = await run[name]().catch((error) => describeFailure(context, error));
    if (watch.signal?.aborted)
      throw new ForgeError('interrupted', 'interrupted', 'Interrupted; the checks are incomplete.');
    checks.push({ name, ...result });
    watch.onCheck?.({ name, ...result });
  }
  return {
    ok: checks.every(({ state }) => state !== 'failed'),
    range: range?.shown ?? null,
    range_from: range?.from ?? null,
    checks,
    notes: context.warnings.splice(0),
  };
}

/** A check that cannot be made is a finding, even if it is a bug in forge. The other checks still count. */
async function describeFailure(context: Context, thrown: unknown): Promise<Result> {
  const error = toForgeError(await withRescue(context, toForgeError(thrown)));
  const cause = CI_CAUSES.find((kind) => error.kind === kind) ?? 'outside';
  const { file, line } = error.details;
  const fix = error.hint === undefined || error.kind === 'bug' ? {} : { fix: error.hint };
  const place = placeOf(context, file, line);
  // The report shows the place before the message.
  const prefix = `${file}${line === undefined ? '' : `:${line}`}: `;
  const message =
    place.file && error.message.startsWith(prefix) ? error.message.slice(prefix.length) : error.message;
  return toResult('not checked', [{ message, ...fix, ...place }], cause);
}

/** A file of the project, from the top of the repository, as annotations need it. */
function placeOf(
  { layout, repository }: Context,
  file: string | undefined,
  line = 0,
): Pick<CiFinding, 'file' | 'line'> {
  if (!file || isAbsolute(file)) return {};
  const name = repository ? shownFrom(repository.root, join(layout.root, file)) : file;
  return { file: name, ...(line > 0 ? { line } : {}) };
}

const describeRange = ({ shown: range, from, ids }: CiRange): string =>
  `${plural(ids.size, 'commit')} in ${range} (${from})`;

/** GIT-08: all commits with `who = "all"`, else those with a protocol heading or an agent's trailer. */
async function checkCommits(context: Context, range: CiRange): Promise<Result> {
  const { repository, world } = context;
  const { enforce, who } = readConfig(context).commit;
  if (enforce === 'off' || !repository) return skipped('[commit] enforce = "off"');
  const commits = await checkRange(repository, world, range.range, await readMessageRules(context), context);
  const bound = commits.filter(({ mark }) => who === 'all' || mark !== null);
  const exempt = bound.filter((commit) => commit.exempt !== undefined).length;
  const free = commits.length - bound.length;
  const detail = [
    describeRange(range),
    ...(exempt > 0 ? [`${exempt} exempt`] : []),
    ...(free > 0 ? [`${free} need not follow the protocol`] : []),
  ].join(', ');
  const isFork = who !== 'all' && isFromFork(world.env);
  // An agent without forge was never asked to follow the protocol, nor was the author of a fork.
  const isWarning = ({ mark }: RangeCommit): boolean =>
    enforce === 'warn' || isFork || (who === 'mine' && mark === 'agent');
  const base = range.shown.includes('..') ? (range.shown.split('..')[0] as string) : '--root';
  const findings = bound.flatMap((commit) =>
    describeCommit(commit, base).map(
      (finding): CiFinding => (isWarning(commit) ? { ...finding, warning: true } : finding),
    ),
  );
  return toResult(detail, findings);
}

/** One finding per commit. The guard reports secrets. A fixup is exempt elsewhere, but must not be merged. */
function describeCommit({ sha, subject, exempt, problems }: RangeCommit, base: string): CiFinding[] {
  if (exempt === 'fixup') {
    const fix = formatArgv(['git', 'rebase', '-i', '--autosquash', base]);
    return [{ message: `"${subject}" must still be squashed.`, fix, commit: sha }];
  }
  const broken = problems.filter(({ rule }) => rule !== 'secret').map(({ message }) => message);
  if (broken.length === 0) return [];
  const fix = `forge commit check --range ${sha.slice(0, 12)}^!   # shows what to write`;
  return [{ message: [`"${subject}":`, ...broken].join(' '), fix, commit: sha }];
}

async function checkMemory(context: Context): Promise<Result> {
  const verdict = await verifyReadOnly(context);
  const findings = problemsOf(verdict).map(
    ({ code, file, line, message, hint }): CiFinding => ({
      ...{ message, fix: hint, ...placeOf(context, file, line) },
      // A revert is not damage.
      ...(code === 'removed_by_commit' ? { warning: true } : {}),
    }),
  );
  context.warnings.push(...notesOf(verdict));
  const halt = readHalt(context.disk);
  if (halt)
    findings.push({
      message: `memory is halted: ${halt.reasons[0] ?? 'it was found damaged'}`,
      fix: 'forge memory override acknowledge --reason "TEXT"',
    });
  const tracked = await findTracked(context);
  if (tracked) findings.push(tracked);
  const damaged = await findDamagedFiles(context, findings);
  const status = damaged.length > 0 ? 'corrupted' : statusOf(context, verdict.findings);
  const cause: CiCause =
    status === 'secret' ? 'secret' : /corrupted|halted/.test(status) ? 'corrupted' : 'findings';
  return toResult(plural(verdict.snapshot.graph.count(), 'record'), [...damaged, ...findings], cause);
}

/** Files that forge cannot read, and those with conflict markers that somebody committed. `known` are reported already. */
async function findDamagedFiles(context: Context, known: readonly CiFinding[]): Promise<CiFinding[]> {
  const { disk, layout } = context;
  const skills = disk.listFolders(skillsFolder(layout)).map((name) => () => requireSkill(context, name));
  const looks = [...memoryReaders(context), ...skills].map(async (look) => {
    try {
      await look();
      return [];
    } catch (error) {
      return (await describeFailure(context, error)).findings;
    }
  });
  const unread = (await Promise.all(looks)).flat();
  const isKnown = (file: string): boolean => [...known, ...unread].some((finding) => finding.file === file);
  const marked = (await findConflicts(context)).filter(({ name }) => !isKnown(name));
  return [
    ...unread,
    ...marked.flatMap(({ name: file, lines, symptoms }): CiFinding[] => {
      if (!lines) return [];
      const message = `it has a merge conflict (lines ${lines.from} to ${lines.to}).`;
      return [{ file, line: lines.from, message, fix: symptoms[0]?.commands.at(-1) ?? 'git status' }];
    }),
  ];
}

async function checkSecrets(
  { layout, world }: Context,
  { range, ids }: CiRange,
  baseline?: string,
): Promise<Result> {
  const { findings, scanned } = await scanTree(layout.root, world, { range, baseline });
  const secrets = findings.map(({ file, line, what, rule, commit }): CiFinding => {
    const isMessage = file === 'commit message';
    return {
      ...(isMessage ? {} : { file, line }),
      ...(commit === undefined ? {} : { commit }),
      message: `${isMessage ? `line ${line} of the message: ` : ''}${what} (rule ${rule})`,
      fix: 'the same commit without it; if it is real, revoke it',
    };
  });
  return toResult(`${plural(scanned, 'added place')} in ${plural(ids.size, 'commit')}`, secrets, 'secret');
}

/** A missing tag fails only the range that added its manifest, because nobody but its author can push it. */
async function checkCheckpoints(context: Context, range: CiRange | null): Promise<Result> {
  const { checkpoints, findings } = await verifyCheckpoints(context);
  const { git, repository, layout, world } = context;
  const described = findings.map(async ({ code, tag, message, hint }): Promise<CiFinding> => {
    if (code !== 'missing' || !git || !repository) return { message, fix: hint };
    const path = shownFrom(repository.root, checkpointFile(layout, tag.replace(/^checkpoint\//, '')));
    const [commit = '', ...author] = (await lastCommitOf(context, path, '--diff-filter=A')).split(' ');
    if (commit === '') return { message, fix: hint };
    const push = formatArgv(['git', 'push', (await findRemote(repository, git)) ?? ORIGIN, tag]);
    // In a shallow clone the oldest commit seems to add every file.
    const who = isShallow(repository) ? 'Its author' : `${oneLine(author.join(' '), 80)}, who created it,`;
    const isAdded = range?.ids.has(commit) ?? false;
    const isForks = isAdded && isFromFork(world.env);
    const way = isForks
      ? 'It is in the fork; once this is merged, somebody who may push here fetches it from there'
      : `${who} has to push it`;
    return {
      message: `${message}. ${way}: ${push}`,
      fix: hint,
      ...(isAdded && !isForks ? {} : { warning: true }),
    };
  });
  return toResult(plural(checkpoints.length, 'checkpoint'), await Promise.all(described));
}

/** Returns its id and author, or an empty string. */
async function lastCommitOf({ git }: Context, path: string, ...filter: string[]): Promise<string> {
  const log = await git?.(['log', '-1', ...filter, '--format=%H %an', 'HEAD', '--', path]);
  return log?.code === 0 ? log.stdout.trim() : '';
}

/** Features whose current tests passed before and fail. Each is an error for the range in which it began, later a warning. */
async function findRegressed(context: Context, range: CiRange | null, features: readonly Feature[]) {
  const { repository, layout } = context;
  const found = features.map(async (feature): Promise<CiFinding> => {
    const path = featureFile(layout, feature.id);
    const commit =
      repository && (await lastCommitOf(context, shownFrom(repository.root, path))).split(' ')[0];
    return {
      ...describeFeature(context, feature, 'passed before and is failing'),
      ...(commit && !range?.ids.has(commit) ? { warning: true } : {}),
    };
  });
  return Promise.all(found);
}

/**
 * Passing features need a recorded run of their current tests, and none may be failing that passed. With `run`, the tests
 * run now; nothing is saved.
 */
async function checkFeatures(
  context: Context,
  range: CiRange | null,
  run: boolean,
  watch: VerifyWatch,
): Promise<Result> {
  const features = readFeatures(context);
  const passing = features
    .filter(({ status }) => status === 'passing')
    .map((feature) => ({ feature, commands: presentCommands(context, feature) }));
  const passes = passesIn(context);
  const unproven = passing.flatMap(({ feature, commands }) => {
    const { id, override } = feature;
    const isRecorded = override !== undefined || passes.get(id)?.has(commands?.at(-1) ?? '') === true;
    if (isRecorded && isProven(feature, commands)) return [];
    const isOther = override !== undefined || passes.has(id);
    const why = isOther ? 'not by a run of its current tests' : 'no recorded run of its tests passed';
    return [describeFeature(context, feature, `is marked passing, but ${why}`)];
  });
  const lost = await passedWithLostCode(context);
  const uncommitted = 'passed with changes that are not in this commit';
  const warnings = passing.flatMap(({ feature }): CiFinding[] =>
    feature.id === lost ? [{ ...describeFeature(context, feature, uncommitted), warning: true }] : [],
  );
  const isRegressed = (feature: Feature): boolean =>
    feature.status === 'failing' &&
    passes.get(feature.id)?.has(presentCommands(context, feature)?.at(-1) ?? '') === true;
  const regressed = await findRegressed(context, range, features.filter(isRegressed));
  const detail = `${passing.length} of ${plural(features.length, 'feature')} passing`;
  if (!run) return toResult(detail, [...unproven, ...regressed, ...warnings]);
  const testable = passing.filter(({ commands }) => commands && commands.length > 0) as Testable[];
  const trusted = testable.filter(({ commands }) => howToApprove(context, commands) === null);
  const failures: CiFinding[] = [];
  for (const { feature, commands } of trusted) {
    const last = (await runTests(context, feature, commands.map(splitCommand), watch)).at(-1);
    const not_run = last && whyNotRun(last);
    if (!last || (last.exit_code === 0 && not_run === null)) continue;
    const now = not_run === null ? 'fails now' : 'did not run';
    const what = `is marked passing and ${now}: ${formatArgv(last.argv)}: ${not_run ?? whyFailed(last)}`;
    const fix = not_run === null ? {} : { fix: 'install what the test needs before: sh .forge/init.sh' };
    failures.push({
      ...describeFeature(context, feature, what),
      ...fix,
      output: last.output.tail.slice(-4096),
    });
  }
  const findings = [...unproven, ...failures, ...regressed, ...warnings];
  const refused = testable.filter((one) => !trusted.includes(one)).map(({ feature }) => feature.id);
  const refusal = refused.length > 0 ? [describeRefusal(context, refused, testable)] : [];
  const cause = findings.every(({ warning }) => warning) ? 'refused' : 'findings';
  return toResult(`${detail}, the tests of ${trusted.length} run`, [...findings, ...refusal], cause);
}

/** For each feature whose tests passed in a run that memory has: the last command of each such run, which is what memory keeps. */
function passesIn(context: Context): Map<string, Set<string>> {
  const passes = new Map<string, Set<string>>();
  for (const { record } of readRecords(context, 'evaluation'))
    if (record.kind === 'verification')
      for (const { feature, command, exit_code, not_run } of record.runs as VerificationRun[])
        if (exit_code === 0 && not_run === undefined)
          passes.set(feature, (passes.get(feature) ?? new Set()).add(command));
  return passes;
}

interface Testable {
  feature: Feature;
  commands: string[];
}

const describeFeature = (context: Context, { id }: Feature, what: string): CiFinding => ({
  message: `${id} ${what}`,
  fix: `forge done ${id}`,
  ...placeOf(context, shown(context.layout, featureFile(context.layout, id))),
});

/** One value approves everything that this run would execute. */
function describeRefusal(context: Context, refused: string[], all: readonly Testable[]): CiFinding {
  const names = refused.length > 5 ? [...refused.slice(0, 5), '…'] : refused;
  const value = trustValueOf(
    context,
    all.flatMap(({ commands }) => commands),
  );
  return {
    message: `the tests of ${plural(refused.length, 'feature')} are not approved here and did not run: ${names.join(', ')}`,
    fix: `FORGE_TRUST=${value}   # a variable of the pipeline that no commit can change, and that counts only where CI is set; read first: forge trust --show`,
  };
}
