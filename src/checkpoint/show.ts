import { formatArgv } from '../core/argv.js';
import { refused, usage } from '../core/error.js';
import { checkpointFile, shown } from '../core/paths.js';
import { plural } from '../core/text.js';
import { findRemote } from '../git/remote.js';
import { reachableTags } from '../git/tags.js';
import { recordsIn } from '../ledger/git.js';
import { readMemory, TIERS } from '../ledger/memory.js';
import type { Context } from '../project/project.js';
import { differing, listed, testedTree } from './place.js';
import { latestCheckpoint, readCheckpoints, requireCheckpoint } from './read.js';
import {
  type CheckEvidence,
  type Checkpoint,
  type CheckpointFinding,
  type CheckpointState,
  type Manifest,
  nameIn,
} from './rules.js';
import { type CheckpointWatch, runAgain } from './run.js';

export interface CheckpointRow {
  tag: string;
  commit: string | null;
  timestamp: string | null;
  features_passing: string[];
  can_rollback_to: boolean;
  state: CheckpointState;
  why?: string;
}

/** All of them, newest first. */
export async function listCheckpoints(context: Context): Promise<{ checkpoints: CheckpointRow[] }> {
  const all = await readCheckpoints(context);
  return {
    checkpoints: all.map(({ tag, timestamp, manifest, state, why }) => ({
      tag,
      commit: manifest?.commit ?? null,
      timestamp,
      features_passing: manifest?.features_passing ?? [],
      can_rollback_to: state === 'ok' && manifest?.can_rollback_to === true,
      state,
      ...(why === undefined ? {} : { why }),
    })),
  };
}

/** Its manifest and its state. */
export type ShownCheckpoint = Partial<Manifest> &
  Pick<Checkpoint, 'tag' | 'state' | 'why'> & { file?: string };

export async function showCheckpoint(context: Context, input: { tag: string }): Promise<ShownCheckpoint> {
  const { name, tag, state, why, manifest, hasFile } = await requireCheckpoint(context, input.tag);
  const file = hasFile ? { file: shown(context.layout, checkpointFile(context.layout, name)) } : {};
  return { ...manifest, tag, state, ...(why === undefined ? {} : { why }), ...file };
}

export interface VerifiedCheckpoints {
  /** The checked ones. */
  checkpoints: string[];
  findings: CheckpointFinding[];
  /** With `--run`: the current results of the commands. */
  evidence?: CheckEvidence[];
}

/** GIT-05: whether checkpoints are unchanged since they were made. */
export async function verifyCheckpoints(
  context: Context,
  { tag, run = false }: { tag?: string; run?: boolean } = {},
  watch: CheckpointWatch = {},
): Promise<VerifiedCheckpoints> {
  const all = tag === undefined && !run ? await readCheckpoints(context) : [await findOne(context, tag)];
  const findings = await stateFindings(context, all);
  const good = all.flatMap(({ name, state, manifest }) =>
    state === 'ok' && manifest ? [{ name, manifest }] : [],
  );
  for (const { manifest } of good) findings.push(...(await contentFindings(context, manifest)));
  findings.push(...(await ledgerFindings(context, good)));
  const checkpoints = all.map((checkpoint) => checkpoint.tag);
  const [first] = good;
  if (!run || findings.length > 0 || !first) return { checkpoints, findings };
  return { checkpoints, ...(await runInPlace(context, first.manifest, watch)) };
}

async function findOne(context: Context, tag: string | undefined): Promise<Checkpoint> {
  const found = tag === undefined ? await latestCheckpoint(context) : await requireCheckpoint(context, tag);
  if (found) return found;
  throw usage('checkpoint.none', 'There is no checkpoint to verify.', { hint: 'forge checkpoint create' });
}

const REMEDIES: Record<Exclude<CheckpointState, 'ok'>, (name: string, remote: string) => string> = {
  moved: (name, remote) =>
    `git fetch ${remote} +refs/tags/checkpoint/${name}:refs/tags/checkpoint/${name}  (from where it is right)`,
  missing: (name, remote) => `git fetch ${remote} tag checkpoint/${name}`,
  tampered: (name) => `git log -p -- .forge/git/checkpoints/${name}.json`,
  unverified: () => 'forge checkpoint create',
  unknown: (name) => `git fetch --tags; else git rm .forge/git/checkpoints/${name}.json`,
  damaged: (name) => `git restore -SW .forge/git/checkpoints/${name}.json`,
};

/** The changed ones. */
async function stateFindings(
  { repository, git }: Context,
  checkpoints: readonly Checkpoint[],
): Promise<CheckpointFinding[]> {
  if (checkpoints.every(({ state }) => state === 'ok')) return [];
  const found = repository && git ? await findRemote(repository, git) : null;
  const remote = found === null ? 'REMOTE' : formatArgv([found]);
  return checkpoints.flatMap(({ name, tag, state, why }) =>
    state === 'ok'
      ? []
      : [{ code: state, tag, message: `${tag}: ${why}`, hint: REMEDIES[state](name, remote) }],
  );
}

/** The manifest's claims about its commit. Someone who rewrote tag and manifest may have changed them. */
async function contentFindings(context: Context, manifest: Manifest): Promise<CheckpointFinding[]> {
  const { tag, commit, evidence = [], ledger = {} } = manifest;
  if (!context.repository) return [];
  const tree = await testedTree(context, commit);
  const held = await recordsIn(context, commit);
  const heads = Object.values(ledger).flatMap((tier) => tier?.heads ?? []);
  const lacking = heads.filter((head) => !held.has(head)).length;
  const wrong: [code: 'evidence' | 'ledger', isWrong: boolean, message: string][] = [
    ['evidence', evidence.some((run) => run.tree !== tree), 'what was tested is not what its commit has'],
    ['evidence', evidence.some(({ exit_code }) => exit_code !== 0), 'a command of it failed'],
    ['ledger', lacking > 0, `its commit has not ${plural(lacking, 'record')} that it names`],
  ];
  const hint = `forge checkpoint show ${nameIn(tag)}`;
  return wrong.flatMap(([code, isWrong, message]) =>
    isWrong ? [{ code, tag, message: `${tag}: ${message}`, hint }] : [],
  );
}

/** Records that checkpoints of this line of history name and the ledger no longer has. */
async function ledgerFindings(
  context: Context,
  good: readonly { name: string; manifest: Manifest }[],
): Promise<CheckpointFinding[]> {
  if (good.length === 0 || !context.git) return [];
  const here = await reachableTags(context.git);
  const { graph } = readMemory(context);
  const named = good
    .filter(({ name }) => here.has(name))
    .flatMap(({ manifest: { tag, ledger } }) =>
      TIERS.flatMap((tier) => (ledger?.[tier]?.heads ?? []).map((head) => ({ tag, tier, head }))),
    );
  return named
    .filter(({ head }) => !graph.has(head))
    .map(({ tag, tier, head }) => ({
      code: 'ledger',
      tag,
      message: `${tag}: record ${head.slice(0, 12)}… (${tier}) is not in memory any more`,
      hint: 'forge memory verify',
    }));
}

/** Runs in the working tree, which must match the checkpoint: a fresh checkout lacks ignored files. */
async function runInPlace(
  context: Context,
  { tag, commit, verified_by }: Manifest,
  watch: CheckpointWatch,
): Promise<{ findings: CheckpointFinding[]; evidence: CheckEvidence[] }> {
  const changed = await differing(context, commit);
  if (changed.length > 0)
    throw refused(
      'checkpoint.elsewhere',
      `The working tree differs from ${tag} (${plural(changed.length, 'file')}: ${listed(changed)}); nothing was run.`,
      {
        hint: `git worktree add ../${nameIn(tag)} ${tag} && cd ../${nameIn(tag)} && forge checkpoint verify ${nameIn(tag)} --run`,
      },
    );
  const tree = await testedTree(context, commit);
  const { evidence, failed } = await runAgain(context, verified_by, tree, watch);
  if (!failed) return { findings: [], evidence };
  const message = `${tag}: ${failed.command}: ${failed.why}`;
  const hint = `git diff ${tag}   # it passed then; look at what is outside git`;
  return { findings: [{ code: 'run', tag, message, hint }], evidence };
}
