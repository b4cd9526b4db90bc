import { basename } from 'node:path';
import { formatArgv } from '../core/argv.js';
import { ForgeError, refused, usage } from '../core/error.js';
import { checkpointFile, checkpointsFolder, checkpointTrees, shown } from '../core/paths.js';
import { firstPaths, makeToken, plural } from '../core/text.js';
import { byteGit, toBytes } from '../git/client.js';
import { differingFiles, treeWith } from '../git/move.js';
import { leadsTo } from '../git/read.js';
import { findRemote } from '../git/remote.js';
import { listTags, reachableTags } from '../git/tags.js';
import { withPrivateIndex } from '../git/tree.js';
import { recordsIn } from '../ledger/git.js';
import { type Context, requireRepository } from '../project/project.js';
import { requireTrust } from '../trust/trust.js';
import {
  byTime,
  CHECKPOINT,
  type CheckEvidence,
  type Checkpoint,
  type CheckpointFinding,
  type CheckpointRow,
  type FileFacts,
  judgeCheckpoint,
  type Manifest,
  nameIn,
  parseName,
  tagOf,
} from './rules.js';
import { type CheckpointWatch, evidenceOf, findFailure, type Runs } from './run.js';

/** Every checkpoint that a tag or a manifest here names, newest first. */
async function readCheckpoints(context: Context): Promise<Checkpoint[]> {
  const found = context.git ? await listTags(context.git) : [];
  const tags = new Map(found.map((tag) => [tag.name, tag]));
  const files = new Map(readManifests(context).map((file) => [file.name, file]));
  const names = [...new Set([...tags.keys(), ...files.keys()])].filter((name) => nameIn(name) === name);
  return names
    .map((name) => judgeCheckpoint(name, { file: files.get(name), tag: tags.get(name) }))
    .sort(byTime);
}

/** Those that are files of `.forge/` here. An unreadable manifest is reported and does not fail the command. */
export function readManifests({ disk, layout }: Context): FileFacts[] {
  const names = disk.list(checkpointsFolder(layout)).filter((file) => file.endsWith('.json'));
  return names
    .map((file) => basename(file, '.json'))
    .filter((name) => nameIn(name) === name)
    .map((name) => {
      try {
        const { value, bytes } = disk.requireDocument(CHECKPOINT, checkpointFile(layout, name));
        return { name, bytes: bytes ?? Buffer.alloc(0), manifest: value };
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
        return { name, bytes: Buffer.alloc(0), manifest: null, problem: error.message.replace(/\.$/, '') };
      }
    });
}

/**
 * The checkpoint to return to: the newest usable `ok` one of this branch, else the newest of all. Null without one. After
 * a squash merge the manifest is here and the commit is not.
 */
export async function latestCheckpoint(context: Context): Promise<Checkpoint | null> {
  const good = (await readCheckpoints(context)).filter((checkpoint) => checkpoint.can_rollback_to);
  if (!context.git || good.length === 0) return null;
  const here = await reachableTags(context.git);
  return good.find(({ name, hasFile }) => hasFile || here.has(name)) ?? good[0] ?? null;
}

/** The checkpoint to return to, if HEAD descends from it, or from a commit with the same files. */
export async function currentCheckpoint(context: Context): Promise<Checkpoint | null> {
  const latest = await latestCheckpoint(context);
  const { git, folder } = requireRepository(context);
  return latest?.manifest && (await leadsTo(git, latest.manifest.commit, folder)) ? latest : null;
}

/**
 * The newest changed checkpoint of this branch, if it is newer than `good` or if its age is unknown: its tag is
 * missing, or its manifest is damaged. A checkpoint belongs to the branch if its manifest is in the working tree.
 */
export async function brokenSince(context: Context, good: Checkpoint | null): Promise<Checkpoint | null> {
  const since = good?.timestamp ?? '';
  const broken = (await readCheckpoints(context)).filter(
    ({ state, hasFile }) => good === null || (state !== 'ok' && hasFile),
  );
  return broken.find(({ timestamp }) => timestamp === null || timestamp > since) ?? null;
}

/** The named one, with or without `checkpoint/` and the suffix. Exit 2 without one. */
export async function requireCheckpoint(context: Context, tag: string): Promise<Checkpoint> {
  const name = parseName(tag);
  const all = await readCheckpoints(context);
  const longer = all.filter((checkpoint) => checkpoint.name.startsWith(`${name}.`));
  const found = all.find((checkpoint) => checkpoint.name === name) ?? longer[0];
  if (found && (found.name === name || longer.length === 1)) return found;
  const how = found ? 'Several checkpoints are' : 'No checkpoint is';
  throw usage('checkpoint.unknown', `${how} named ${tagOf(name)}.`, { hint: 'forge checkpoint list' });
}

export async function listCheckpoints(context: Context): Promise<{ checkpoints: CheckpointRow[] }> {
  const all = await readCheckpoints(context);
  return { checkpoints: all.map(({ name: _, manifest: __, hasFile: ___, ...row }) => row) };
}

/** Its manifest and its state. */
export type ShownCheckpoint = Partial<Manifest> &
  Pick<Checkpoint, 'tag' | 'state' | 'why'> & { file?: string };

export async function showCheckpoint(context: Context, input: { tag: string }): Promise<ShownCheckpoint> {
  const { name, tag, state, why, manifest, hasFile } = await requireCheckpoint(context, input.tag);
  const file = hasFile ? { file: shown(context.layout, checkpointFile(context.layout, name)) } : {};
  return { ...manifest, tag, state, why, ...file };
}

export interface VerifiedCheckpoints {
  checkpoints: string[];
  findings: CheckpointFinding[];
  /** With `--run`: the current results of the commands. */
  evidence?: CheckEvidence[];
}

/** GIT-05: whether checkpoints are unchanged since they were made. */
export async function verifyCheckpoints(
  context: Context,
  { tag, run = false }: { tag?: string | undefined; run?: boolean } = {},
  watch: CheckpointWatch = {},
): Promise<VerifiedCheckpoints> {
  const all = tag === undefined && !run ? await readCheckpoints(context) : [await findOne(context, tag)];
  const findings = await stateFindings(context, all);
  const good = all.flatMap(({ state, manifest }) => (state === 'ok' && manifest ? [manifest] : []));
  for (const manifest of good) findings.push(...(await contentFindings(context, manifest)));
  const checkpoints = all.map((checkpoint) => checkpoint.tag);
  const [first] = good;
  if (!run || findings.length > 0 || !first) return { checkpoints, findings };
  return { checkpoints, ...(await runInPlace(context, first, watch)) };
}

async function findOne(context: Context, tag: string | undefined): Promise<Checkpoint> {
  const found = tag === undefined ? await latestCheckpoint(context) : await requireCheckpoint(context, tag);
  if (found) return found;
  throw usage('checkpoint.none', 'There is no checkpoint to verify.', { hint: 'forge checkpoint create' });
}

async function stateFindings(
  { repository, git }: Context,
  checkpoints: readonly Checkpoint[],
): Promise<CheckpointFinding[]> {
  const changed = checkpoints.flatMap(({ name, tag, state, why }) =>
    state === 'ok' ? [] : [{ name, tag, state, why }],
  );
  if (changed.length === 0) return [];
  const found = repository && git ? await findRemote(repository, git) : null;
  const remote = found === null ? 'REMOTE' : formatArgv([found]);
  return changed.map(({ name, tag, state, why }) => {
    const remedies: Record<typeof state, string> = {
      moved: `git fetch ${remote} +refs/tags/${tag}:refs/tags/${tag}   # from where it is right`,
      missing: `git fetch ${remote} tag ${tag}`,
      damaged: `git log -p -- .forge/git/checkpoints/${name}.json`,
      unverified: 'forge checkpoint create',
    };
    return { code: state, tag, message: `${tag}: ${why}`, hint: remedies[state] };
  });
}

/** The manifest's claims about its commit. Someone who rewrote tag and manifest may have changed them. */
async function contentFindings(context: Context, manifest: Manifest): Promise<CheckpointFinding[]> {
  const { tag, commit, evidence = [], ledger = {} } = manifest;
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

/** Runs in the working tree, which must match the checkpoint: a fresh checkout lacks ignored files. */
async function runInPlace(context: Context, { tag, commit, verified_by }: Manifest, watch: CheckpointWatch) {
  const changed = await differing(context, commit);
  if (changed.length > 0)
    throw refused(
      'checkpoint.elsewhere',
      `The working tree differs from ${tag} (${plural(changed.length, 'file')}: ${firstPaths(changed)}); nothing was run.`,
      {
        hint: `git worktree add ../${nameIn(tag)} ${tag} && cd ../${nameIn(tag)} && forge checkpoint verify ${nameIn(tag)} --run`,
      },
    );
  requireTrust(context, verified_by);
  const runs: Runs = new Map();
  const failed = await findFailure(context, verified_by, runs, watch);
  const evidence = evidenceOf(runs, await testedTree(context, commit));
  if (!failed) return { findings: [], evidence };
  const message = `${tag}: ${failed.command}: ${failed.why}`;
  const hint = `git diff ${tag}   # it passed then; look at what is outside git`;
  return { findings: [{ code: 'run' as const, tag, message, hint }], evidence };
}

/** Files outside `.forge/` in which the working tree differs from that commit. */
export async function differing(context: Context, commit: string): Promise<string[]> {
  const { layout } = context;
  const { repository, git, folder } = requireRepository(context);
  const sparse = await git(['config', '--type=bool', '--get', 'core.sparseCheckout']);
  const place = checkpointTrees(layout, makeToken(12));
  return withPrivateIndex({ repository, git, place }, (workspace) =>
    differingFiles(workspace, { commit, folder, isSparse: sparse.stdout.trim() === 'true' }),
  );
}

/** The git tree of a commit without `.forge/`. */
export async function testedTree(context: Context, commit: string): Promise<string> {
  const { git, folder } = requireRepository(context);
  return treeWith(byteGit(git), `${commit}^{tree}`, toBytes(folder));
}
