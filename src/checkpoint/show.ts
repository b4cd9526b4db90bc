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
  input: { tag?: string; run?: boolean } = {},
  watch: CheckpointWatch = {},
): Promise<VerifiedCheckpoints> {
  const chosen = input.run ? [await toRun(context, input.tag)] : await choose(context, input.tag);
  const findings = await stateFindings(context, chosen);
  const good = chosen.filter(({ state }) => state === 'ok');
  for (const { manifest } of good) if (manifest) findings.push(...(await contentFindings(context, manifest)));
  findings.push(...(await ledgerFindings(context, good)));
  const checkpoints = chosen.map(({ tag }) => tag);
  const manifest = good[0]?.manifest;
  if (!input.run || findings.length > 0 || !manifest) return { checkpoints, findings };
  const again = await runInPlace(context, manifest, watch);
  return { checkpoints, ...again };
}

const choose = async (context: Context, tag: string | undefined): Promise<Checkpoint[]> =>
  tag === undefined ? readCheckpoints(context) : [await requireCheckpoint(context, tag)];

async function toRun(context: Context, tag: string | undefined): Promise<Checkpoint> {
  const found = tag === undefined ? await latestCheckpoint(context) : await requireCheckpoint(context, tag);
  if (found) return found;
  throw usage('checkpoint.none', 'There is no checkpoint to verify.', {
    hint: 'forge checkpoint create',
  });
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
  const bad = checkpoints.filter(({ state }) => state !== 'ok');
  if (bad.length === 0) return [];
  const found = repository && git ? await findRemote(repository, git) : null;
  const remote = found === null ? 'REMOTE' : formatArgv([found]);
  return bad.flatMap(({ name, tag, state, why }) =>
    state === 'ok'
      ? []
      : [{ code: state, tag, message: `${tag}: ${why}`, hint: REMEDIES[state](name, remote) }],
  );
}

/** The manifest's claims about its commit. Someone who rewrote tag and manifest may have changed them. */
async function contentFindings(context: Context, manifest: Manifest): Promise<CheckpointFinding[]> {
  const { tag, commit, evidence = [], ledger = {} } = manifest;
  if (!context.repository) return [];
  const said = (code: 'evidence' | 'ledger', message: string): CheckpointFinding => ({
    code,
    tag,
    message: `${tag}: ${message}`,
    hint: `forge checkpoint show ${nameIn(tag)}`,
  });
  const findings: CheckpointFinding[] = [];
  const tree = await testedTree(context, commit);
  if (evidence.some((run) => run.tree !== tree))
    findings.push(said('evidence', 'what was tested is not what its commit has'));
  if (evidence.some(({ exit_code }) => exit_code !== 0))
    findings.push(said('evidence', 'a command of it failed'));
  const heads = Object.values(ledger).flatMap((tier) => tier?.heads ?? []);
  const held = await recordsIn(context, commit);
  const lacking = heads.filter((head) => !held.has(head));
  if (lacking.length > 0)
    findings.push(said('ledger', `its commit has not ${plural(lacking.length, 'record')} that it names`));
  return findings;
}

/** Records that checkpoints of this line of history name and the ledger no longer has. */
async function ledgerFindings(context: Context, good: readonly Checkpoint[]): Promise<CheckpointFinding[]> {
  if (good.length === 0 || !context.git) return [];
  const here = await reachableTags(context.git);
  const memory = readMemory(context);
  return good
    .filter(({ name }) => here.has(name))
    .flatMap(({ tag, manifest }) =>
      TIERS.flatMap((tier) => {
        const heads = manifest?.ledger?.[tier]?.heads ?? [];
        const gone = heads.filter((head) => !memory.graph.hasAnywhere(head));
        return gone.map((head) => ({
          code: 'ledger' as const,
          tag,
          message: `${tag}: record ${head.slice(0, 12)}… (${tier}) is not in memory any more`,
          hint: 'forge memory verify',
        }));
      }),
    );
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
