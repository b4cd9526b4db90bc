import { isAbsolute, join } from 'node:path';
import { verifyCheckpoints } from '../checkpoint/show.js';
import { checkRange, type RangeCommit, readRules } from '../commit/check.js';
import { formatArgv, splitCommand } from '../core/argv.js';
import { ForgeError } from '../core/error.js';
import { checkpointFile, featureFile, shown, shownFrom } from '../core/paths.js';
import type { ProcessRun } from '../core/process.js';
import { oneLine, plural } from '../core/text.js';
import { presentCommands } from '../feature/feature.js';
import { type Feature, isProven } from '../feature/rules.js';
import { readFeatures } from '../feature/store.js';
import { runTests, type VerifyWatch, whyTestFailed } from '../feature/verify.js';
import { findRemote, ORIGIN } from '../git/remote.js';
import { scanTree } from '../guard/scan-tree.js';
import { notesOf, problemsOf, verifyReadOnly } from '../ledger/integrity.js';
import { findTracked } from '../project/edits.js';
import { readHalt } from '../project/halt.js';
import { type Context, readConfig } from '../project/project.js';
import { requireTrust, trustValueOf } from '../trust/trust.js';
import { type CiRange, describeRange, isFromFork } from './range.js';
import { type CiCause, type CiFinding, type Looked, looked, skipped } from './rules.js';

/** A place in the project of `.forge/` as git and annotations have it: from the top of the repository. */
export function fromTop(
  { layout, repository }: Context,
  file: string | undefined,
  line = 0,
): Pick<CiFinding, 'file' | 'line'> {
  if (file === undefined || file === '' || isAbsolute(file)) return {};
  const name = repository ? shownFrom(repository.root, join(layout.root, file)) : file;
  return { file: name, ...(line > 0 ? { line } : {}) };
}

/**
 * GIT-08: with `[commit] who = "all"` every commit; else those that carry a heading of the protocol or an agent's trailer.
 * Nobody asked an agent without forge for the protocol, nor a stranger: what breaks it there is a warning.
 */
export async function lookAtCommits(context: Context, found: CiRange): Promise<Looked> {
  const { repository, world } = context;
  const { enforce, who } = readConfig(context).commit;
  if (enforce === 'off' || !repository) return skipped('[commit] enforce = "off"');
  const commits = await checkRange(repository, world, found.range, readRules(context), context);
  const bound = commits.filter(({ mark }) => who === 'all' || mark !== null);
  const exempt = bound.filter((commit) => commit.exempt !== undefined).length;
  const free = commits.length - bound.length;
  const detail = [
    describeRange(found),
    ...(exempt > 0 ? [`${exempt} exempt`] : []),
    ...(free > 0 ? [`${free} that did not ask for the protocol`] : []),
  ].join(', ');
  const isSoft = ({ mark }: RangeCommit): boolean =>
    enforce === 'warn' || (who !== 'all' && (isFromFork(world.env) || (who === 'mine' && mark === 'agent')));
  return looked(
    detail,
    bound.flatMap((commit) =>
      findingOf(commit).map((finding) => (isSoft(commit) ? { ...finding, warning: true } : finding)),
    ),
  );
}

/** One for each commit. Secrets are reported by the guard. A commit that waits to be squashed is exempt only elsewhere. */
function findingOf({ sha, subject, exempt, problems }: RangeCommit): CiFinding[] {
  const wrong = problems.filter(({ rule }) => rule !== 'secret').map(({ message }) => message);
  if (exempt === 'fixup') {
    const fix = 'git rebase -i --autosquash   # from before the commit that it belongs to';
    return [{ message: [`"${subject}" is still to be squashed.`, ...wrong].join(' '), fix, commit: sha }];
  }
  if (wrong.length === 0) return [];
  const fix = `forge commit check --range ${sha.slice(0, 12)}^!   # says what to write`;
  return [{ message: [`"${subject}":`, ...wrong].join(' '), fix, commit: sha }];
}

export async function lookAtMemory(context: Context): Promise<Looked> {
  const verdict = await verifyReadOnly(context);
  const findings = problemsOf(verdict).map(
    ({ code, file, line, message, hint }): CiFinding => ({
      ...{ message, fix: hint, ...fromTop(context, file, line) },
      // A revert is no damage: whoever made it decides.
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
  const isDamaged = halt !== null || verdict.state === 'corrupted';
  const cause: CiCause = isDamaged ? 'corrupted' : verdict.state === 'returned' ? 'secret' : 'findings';
  return looked(plural(verdict.records, 'record'), findings, cause);
}

export async function lookForSecrets(
  context: Context,
  found: CiRange,
  baseline: string | undefined,
): Promise<Looked> {
  const { layout, world } = context;
  const known = baseline === undefined ? {} : { baseline };
  const { findings, scanned } = await scanTree(layout.root, world, { range: found.range, ...known });
  const told = findings.map(
    ({ file, line, what, rule, commit }): CiFinding => ({
      // Where a message is meant there is no file of that name.
      ...(file === 'commit message' ? {} : { file, line }),
      ...(commit === undefined ? {} : { commit }),
      message: `${file === 'commit message' ? `line ${line} of the message: ` : ''}${what} (rule ${rule})`,
      fix: 'the same commit without it; if it is real, revoke it',
    }),
  );
  return looked(`${plural(scanned, 'added place')} in ${plural(found.ids.size, 'commit')}`, told, 'secret');
}

/** A tag that nobody pushed fails only the range that brought its manifest: nobody else can push it. */
export async function lookAtCheckpoints(context: Context, range: CiRange | null): Promise<Looked> {
  const { checkpoints, findings } = await verifyCheckpoints(context);
  const told = findings.map(async ({ code, tag, message, hint }): Promise<CiFinding> => {
    const added = code === 'missing' || code === 'unknown' ? await addedBy(context, tag) : null;
    if (added === null) return { message, fix: hint };
    const { git, repository } = context;
    const remote = git && repository ? await findRemote(repository, git) : null;
    const push = formatArgv(['git', 'push', remote ?? ORIGIN, tag]);
    const who = `${message}. ${added.author}, who made it, has to push it: ${push}`;
    return { message: who, fix: hint, ...(range?.ids.has(added.commit) ? {} : { warning: true }) };
  });
  return looked(plural(checkpoints.length, 'checkpoint'), await Promise.all(told));
}

/** The commit that brought the manifest of a checkpoint. Null where no commit has. */
async function addedBy(
  { git, repository, layout }: Context,
  tag: string,
): Promise<{ commit: string; author: string } | null> {
  if (!git || !repository) return null;
  const path = shownFrom(repository.root, checkpointFile(layout, tag.replace(/^checkpoint\//, '')));
  const { code, stdout } = await git(['log', '-1', '--diff-filter=A', '--format=%H %an', 'HEAD', '--', path]);
  const [commit = '', ...author] = stdout.trim().split(' ');
  return code === 0 && commit !== '' ? { commit, author: oneLine(author.join(' '), 80) } : null;
}

/**
 * Whether each feature that is said to pass was shown to, by its tests as they stand; with `run` also whether it does so
 * now. What is seen here is written nowhere: a pipeline judges what is there.
 */
export async function lookAtFeatures(context: Context, run: boolean, watch: VerifyWatch): Promise<Looked> {
  const features = readFeatures(context);
  const passing = features.filter(({ status }) => status === 'passing');
  const claims = passing.flatMap((feature) => claimOf(context, feature));
  const detail = `${passing.length} of ${plural(features.length, 'feature')} passing`;
  if (!run) return looked(detail, claims);
  const { findings, refusal, shown } = await runPassing(context, passing, watch);
  // Only where nothing else is wrong: a test that may not run has shown nothing against its feature.
  const isRefused = claims.length === 0 && findings.length === 0;
  const all = [...claims, ...findings, ...refusal];
  return looked(`${detail}, the tests of ${shown} run`, all, isRefused ? 'refused' : 'findings');
}

const placeOf = (context: Context, { id }: Feature): Pick<CiFinding, 'file' | 'line'> =>
  fromTop(context, shown(context.layout, featureFile(context.layout, id)));

function claimOf(context: Context, feature: Feature): CiFinding[] {
  if (isProven(feature, presentCommands(context, feature))) return [];
  const message = `${feature.id} is marked passing, but not by a run of its tests as they are`;
  return [{ message, fix: `forge done ${feature.id}`, ...placeOf(context, feature) }];
}

/** Runs the tests of passing features that are trusted. Features that name the same tests share one run. */
async function runPassing(context: Context, passing: readonly Feature[], watch: VerifyWatch) {
  const findings: CiFinding[] = [];
  const wanted: string[] = [];
  const refused: string[] = [];
  const known = new Map<string, ProcessRun | undefined>();
  let shown = 0;
  for (const feature of passing) {
    const commands = presentCommands(context, feature);
    if (commands?.length === 0) continue;
    const place = placeOf(context, feature);
    if (commands === null) {
      const message = `${feature.id}: one of its tests is not a command`;
      findings.push({ message, fix: `forge feature show ${feature.id}`, ...place });
      continue;
    }
    wanted.push(...commands);
    if (!isTrusted(context, commands)) {
      refused.push(feature.id);
      continue;
    }
    const key = JSON.stringify(commands);
    const last =
      known.get(key) ?? (await runTests(context, feature, commands.map(splitCommand), watch)).at(-1);
    known.set(key, last);
    shown++;
    if (last && last.exit_code !== 0) findings.push({ ...failureOf(feature, last), ...place });
  }
  return { findings, shown, refusal: refused.length > 0 ? [refusalOf(context, refused, wanted)] : [] };
}

function isTrusted(context: Context, commands: readonly string[]): boolean {
  try {
    requireTrust(context, commands);
    return true;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'refused') return false;
    throw error;
  }
}

/** One value for everything that this run would execute. Other features do not change it. */
function refusalOf(context: Context, refused: readonly string[], wanted: readonly string[]): CiFinding {
  const named = refused.length > 5 ? [...refused.slice(0, 5), '…'] : refused;
  return {
    message: `the tests of ${plural(refused.length, 'feature')} are not approved here, and were not run: ${named.join(', ')}`,
    fix: `FORGE_TRUST=${trustValueOf(context, wanted)}   # a variable of the pipeline that no commit can change; read first: forge trust --show`,
  };
}

const failureOf = (feature: Feature, run: ProcessRun): CiFinding => ({
  message: `${feature.id} is marked passing and fails now: ${formatArgv(run.argv)}: ${whyTestFailed(run)}`,
  fix: `forge done ${feature.id}`,
  output: run.output.tail.slice(-4096),
});
