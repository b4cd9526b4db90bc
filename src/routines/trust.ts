import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import * as z from 'zod/mini';
import { stateHome } from '../adapters/environment.js';
import { identityOf } from '../adapters/repository.js';
import { formatArgv, testArgv } from '../domain/argv.js';
import { decodeDocument, encodeDocument, type Format } from '../domain/document.js';
import { ForgeError, refused } from '../domain/error.js';
import { FEATURES } from '../domain/feature.js';
import { MAX_STATE_BYTES } from '../domain/json.js';
import {
  type Approval,
  digestAll,
  digestRunnable,
  judgeTrust,
  type Runnable,
  type TrustItem,
} from '../domain/trust.js';
import { makeFolder, readPlain, removePath, replaceFiles } from '../store/durable.js';
import { featuresFile, initScript, shown } from '../store/layout.js';
import { withLock } from '../store/lock.js';
import { type Context, readConfig, timestamp } from './context.js';

const Approvals = z.looseObject({
  schema_version: z.string(),
  identity: z.string(),
  approvals: z.array(
    z.looseObject({
      kind: z.enum(['file', 'command']),
      name: z.string(),
      digest: z.string(),
      content: z.string(),
      at: z.string(),
      how: z.enum(['entered', 'approved']),
    }),
  ),
});
type Approvals = z.infer<typeof Approvals>;
const APPROVALS: Format<Approvals> = { name: 'trust', version: '1.0', schema: Approvals };

export interface TrustReport {
  /** The repository (its common git dir) or folder that approvals are tied to. */
  identity: string;
  /** What FORGE_TRUST must be for all of this to run in CI. */
  digest: string;
  items: TrustItem[];
  trusted: boolean;
}

/** Everything from this repository that forge would run, and whether it may. */
export function showTrust(context: Context): TrustReport {
  const identity = identityOf(context.layout.root, context.repository);
  const runnables = listRunnables(context);
  const digest = digestAll(runnables);
  const items = judgeTrust(runnables, readApprovals(context, identity).approvals).map((item) =>
    context.world.env.FORGE_TRUST === digest ? { ...item, state: 'trusted' as const } : item,
  );
  return { identity, digest, items, trusted: items.every(({ state }) => state === 'trusted') };
}

/** Throws exit 3 `trust.needed` unless every one of these commands may run here. */
export function requireTrust(context: Context, commands: readonly string[]): void {
  const wanted = new Set(commands);
  const files = new Set(
    commands.flatMap((command) => filesIn(context, command.split(' ')).map(({ name }) => name)),
  );
  const blocking = showTrust(context).items.find(
    ({ kind, content, name, state }) =>
      state !== 'trusted' && (kind === 'command' ? wanted.has(content) : files.has(name)),
  );
  if (!blocking) return;
  const what = blocking.kind === 'file' ? blocking.name : `"${blocking.content}" (${blocking.name})`;
  const state =
    blocking.state === 'changed' ? 'changed since it was approved' : 'was not approved on this machine';
  throw refused('trust.needed', `${what} ${state}; nothing was run.`, { hint: 'forge trust' });
}

/** A person at a terminal approves what `shown` (its digest) listed; nobody else can (exit 3). */
export function approveTrust(context: Context, input: { digest: string }): TrustReport {
  if (!context.world.terminal)
    throw refused('trust.no_terminal', 'Only a person at a terminal can approve what this repository runs.', {
      hint: 'In CI: FORGE_TRUST=<the sha256 that "forge trust --show" prints>',
    });
  const runnables = listRunnables(context);
  if (digestAll(runnables) !== input.digest)
    throw refused('trust.changed', 'It changed while you were reading; nothing was approved.', {
      hint: 'forge trust',
    });
  approve(context, runnables, 'approved');
  return showTrust(context);
}

/** Takes back every approval for this repository. */
export function revokeTrust(context: Context): TrustReport {
  const { identity } = showTrust(context);
  if (!context.disk.dryRun) removePath(trustFile(context, identity));
  return showTrust(context);
}

/** Tests that were just entered through forge here. */
export function approveTests(context: Context, tests: readonly string[]): void {
  const wanted = new Set(commandsOf(context, tests));
  const entered = listRunnables(context).filter(
    ({ kind, content }) => kind === 'command' && wanted.has(content),
  );
  approve(context, entered, 'entered');
}

/** A file that forge itself just wrote. */
export function approveInitScript(context: Context): void {
  approve(context, fileRunnable(context, initScript(context.layout)), 'entered');
}

/** How each test would be run: its words after `test_command`, quoted. */
export function commandsOf(context: Context, tests: readonly string[]): string[] {
  const template = readConfig(context).features.test_command;
  return tests.map((test) => formatArgv(testArgv(test, template)));
}

/** init.sh, every feature's tests, and the files in .forge/ that these name. */
function listRunnables(context: Context): Runnable[] {
  const { disk, layout } = context;
  const features = disk.requireDocument(FEATURES, featuresFile(layout)).value.features;
  const runnables = fileRunnable(context, initScript(layout));
  for (const feature of features)
    for (const test of feature.tests ?? []) runnables.push(...testRunnables(context, feature.id, test));
  return runnables.filter(
    (item, i) => runnables.findIndex((other) => digestRunnable(other) === digestRunnable(item)) === i,
  );
}

/** A test that cannot be split into words can never run, so there is nothing to approve. */
function testRunnables(context: Context, id: string, test: string): Runnable[] {
  try {
    const argv = testArgv(test, readConfig(context).features.test_command);
    return [{ kind: 'command', name: `feature ${id}`, content: formatArgv(argv) }, ...filesIn(context, argv)];
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'usage') return [];
    throw error;
  }
}

/** Scripts in .forge/ came with the clone like the command that names them. */
function filesIn(context: Context, argv: readonly string[]): Runnable[] {
  const { root, dir } = context.layout;
  const paths = argv.map((word) => resolve(root, word)).filter((path) => path.startsWith(dir + sep));
  return paths.flatMap((path) => fileRunnable(context, path));
}

/** Reads what the path leads to, so that changing a link's target is a change too. */
function fileRunnable({ layout }: Context, path: string): Runnable[] {
  try {
    const bytes = readPlain(realpathSync.native(path), MAX_STATE_BYTES);
    return bytes ? [{ kind: 'file', name: shown(layout, path), content: bytes.toString('utf8') }] : [];
  } catch {
    // Gone, or a folder: nothing that could be run.
    return [];
  }
}

function trustFile(context: Context, identity: string): string {
  const name = createHash('sha256').update(identity).digest('hex').slice(0, 32);
  return join(stateHome(context.world.env), 'trust', `${name}.json`);
}

function readApprovals(context: Context, identity: string): Approvals {
  const path = trustFile(context, identity);
  const bytes = readPlain(path, MAX_STATE_BYTES);
  const none: Approvals = { schema_version: APPROVALS.version, identity, approvals: [] };
  if (!bytes) return none;
  const approvals = decodeDocument(APPROVALS, bytes, path).value;
  return approvals.identity === identity ? approvals : none;
}

function approve(context: Context, runnables: readonly Runnable[], how: Approval['how']): void {
  const { world, layout, repository, disk } = context;
  if (disk.dryRun || runnables.length === 0) return;
  const identity = identityOf(layout.root, repository);
  const path = trustFile(context, identity);
  withLock(join(dirname(path), 'lock'), { me: world.self, liveness: world.liveness }, () => {
    const before = readApprovals(context, identity);
    const known = new Set(before.approvals.map(({ digest }) => digest));
    const fresh = runnables
      .map((runnable) => ({ ...runnable, digest: digestRunnable(runnable), at: timestamp(context), how }))
      .filter(({ digest }) => !known.has(digest));
    if (fresh.length === 0) return;
    makeFolder(dirname(path));
    const after: Approvals = { ...before, approvals: [...before.approvals, ...fresh] };
    replaceFiles([{ path, bytes: encodeDocument(after), mode: 0o600 }]);
  });
}
