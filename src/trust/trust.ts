import { dirname, join, resolve, sep } from 'node:path';
import * as z from 'zod/mini';
import { formatArgv, splitCommand, testArgv } from '../core/argv.js';
import { readEntries } from '../core/entries.js';
import { stateHome } from '../core/environment.js';
import { ForgeError, refused } from '../core/error.js';
import { makeFolder, PRIVATE, readPlain, readTarget, removePath, replaceFiles } from '../core/files.js';
import { MAX_STATE_BYTES } from '../core/json.js';
import { type LockPolicy, withLock } from '../core/lock.js';
import { architectureFile, initScript, shown, trustFile } from '../core/paths.js';
import { decodeDocument, encodeDocument, type Format } from '../core/schema.js';
import { readFeatures } from '../feature/store.js';
import { identityOf } from '../git/repository.js';
import { readArchitecture } from '../knowledge/architecture-rules.js';
import { LEARNED_LIST, listLearnings } from '../knowledge/rules.js';
import { readMemory } from '../ledger/memory.js';
import {
  type Context,
  lockPolicy,
  readConfig,
  refuseAgent,
  requireSupervisor,
  timestamp,
} from '../project/project.js';
import {
  type Approval,
  approvedBy,
  CYCLE_COMMANDS,
  digestAll,
  digestRunnable,
  judgeTrust,
  type Runnable,
  type TrustItem,
  trustValue,
} from './rules.js';

export interface TrustReport {
  /** The repository (its common git dir) or folder that approvals are tied to. */
  identity: string;
  /** What FORGE_TRUST may be for all of this to run in CI, in this repository and its clones. */
  digest: string;
  /** What forge would run, then the invariants. */
  items: TrustItem[];
  trusted: boolean;
}

/** Everything from this repository that forge would run, and whether it may. */
export function showTrust(context: Context): TrustReport {
  const identity = identityOf(context.layout.root, context.repository);
  const runnables = listRunnables(context);
  const ledger = ledgerIdOf(context);
  const inCi = approvedBy(approvalOfCi(context.world.env), ledger, runnables);
  const approved = readApproved(context, identity);
  const items = [
    ...judgeTrust(runnables, approved).map((item) =>
      inCi(item) ? { ...item, state: 'trusted' as const } : item,
    ),
    ...judgeTrust(listRules(context), approved),
  ];
  const trusted = items.every(({ state }) => state === 'trusted');
  return { identity, digest: digestAll(ledger, runnables), items, trusted };
}

/** Only a pipeline approves by environment variable: one left over in a shell approves nothing. */
const approvalOfCi = ({ CI = '', FORGE_TRUST = '' }: NodeJS.ProcessEnv): string =>
  ['', '0', 'false'].includes(CI) ? '' : FORGE_TRUST;

/** The id of the ledger, which all clones share; '' where there is none. */
const ledgerIdOf = (context: Context): string => readMemory(context).graph.ledger() ?? '';

/** The value of FORGE_TRUST that lets a pipeline run exactly these commands, with the files that they name. */
export function trustValueOf(context: Context, commands: readonly string[]): string {
  const wanted = new Set(commandRunnables(context, commands).map(digestRunnable));
  const runnables = listRunnables(context).filter((each) => wanted.has(digestRunnable(each)));
  return trustValue(ledgerIdOf(context), runnables);
}

/** A person at a terminal approves what was shown: the report's digest, and its `rules`. Nobody else can (exit 3). */
export function approveTrust(
  context: Context,
  input: { digest: string; rules?: readonly string[] },
): TrustReport {
  requireSupervisor(context, 'trust');
  refuseAgent(context, 'Approving what this repository runs');
  if (!context.world.terminal)
    throw refused('trust.no_terminal', 'Only a person at a terminal can approve what this repository runs.', {
      hint: 'In CI: FORGE_TRUST=<the sha256 that "forge trust --show" prints>',
    });
  const runnables = listRunnables(context);
  if (digestAll(ledgerIdOf(context), runnables) !== input.digest)
    throw refused('trust.changed', 'It changed while you were reading; nothing was approved.', {
      hint: 'forge trust',
    });
  const seen = new Set(input.rules);
  const rules = listRules(context).filter((rule) => seen.has(digestRunnable(rule)));
  approve(context, [...runnables, ...rules], 'approved');
  return showTrust(context);
}

/** Takes back every approval for this repository. */
export function revokeTrust(context: Context): TrustReport {
  requireSupervisor(context, 'trust');
  refuseAgent(context, 'Taking back what was approved');
  const { identity } = showTrust(context);
  if (!context.disk.dryRun) removePath(trustFile(stateHome(context.world.env), identity));
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

/** Invariants that a person just entered. An agent's are only stated. */
export function approveRules(context: Context, texts: readonly string[]): void {
  if (context.world.terminal) approve(context, texts.map(toRule), 'entered');
}

/** Tells which invariants a person approved on this machine, word for word. */
export function approvedRules(context: Context): (text: string) => boolean {
  const approvals = readApproved(context, identityOf(context.layout.root, context.repository));
  const known = new Set(approvals.filter(({ kind }) => kind === 'rule').map(({ digest }) => digest));
  return (text) => known.has(digestRunnable(toRule(text)));
}

const toRule = (text: string): Runnable => ({ kind: 'rule', name: 'invariant', content: text });

/** Every invariant once: those of architecture.md, then those that were entered. */
function listRules({ disk, layout }: Context): Runnable[] {
  const architecture = readText(() => disk.read(architectureFile(layout)));
  const entered = listLearnings(readEntries(disk, LEARNED_LIST).entries);
  const texts = [
    ...readArchitecture(architecture).invariants.map(({ text }) => text),
    ...entered.flatMap((entry) => (entry.kind === 'invariant' ? [entry.text] : [])),
  ];
  return [...new Set(texts)].map(toRule);
}

/** The text, or '' if the file cannot be read. */
function readText(read: () => Buffer | null): string {
  try {
    return read()?.toString('utf8') ?? '';
  } catch (error) {
    if (error instanceof ForgeError) return '';
    throw error;
  }
}

/** Commands that somebody just typed, with the files of `.forge/` that they name. */
export function approveTyped(context: Context, commands: readonly string[]): void {
  approve(context, commandRunnables(context, commands), 'entered');
}

/**
 * Throws exit 3 `trust.needed` unless each of these commands, what it names in `.forge/`, and each of these files was approved here as it stands.
 * Not all have to be listed by `forge trust`: a manifest names some of its own.
 */
export function requireTrust(
  context: Context,
  commands: readonly string[],
  files: readonly string[] = [],
): void {
  const { identity, items } = showTrust(context);
  const trusted = [...readApproved(context, identity), ...items.filter(({ state }) => state === 'trusted')];
  const known = new Set(trusted.map(({ digest }) => digest));
  const wanted = [
    ...commandRunnables(context, commands),
    ...files.flatMap((path) => fileRunnable(context, path)),
  ];
  const blocking = wanted.find((one) => !known.has(digestRunnable(one)));
  if (!blocking) return;
  const digest = digestRunnable(blocking);
  const listed = items.find((item) => item.digest === digest);
  const place = listed ? ` (${listed.name})` : '';
  const what = blocking.kind === 'file' ? blocking.name : `"${blocking.content}"${place}`;
  const state =
    listed?.state === 'changed' ? 'changed since it was approved' : 'was not approved on this machine';
  const unlisted = '  (after putting the command into [checkpoint] verify of .forge/config.toml)';
  throw refused('trust.needed', `${what} ${state}; nothing was run.`, {
    hint: `forge trust${listed ? '' : unlisted}`,
  });
}

const commandRunnables = (context: Context, commands: readonly string[]): Runnable[] =>
  commands.flatMap((command) => [
    { kind: 'command' as const, name: 'checkpoint', content: command },
    ...filesIn(context, splitCommand(command)),
  ]);

/** A file that forge itself just wrote. */
export function approveInitScript(context: Context): void {
  approve(context, fileRunnable(context, initScript(context.layout)), 'entered');
}

/** How each test would be run: its words after `test_command`, quoted. */
function commandsOf(context: Context, tests: readonly string[]): string[] {
  const template = readConfig(context).features.test_command;
  return tests.map((test) => formatArgv(testArgv(test, template)));
}

/** init.sh, every feature's tests, what verifies checkpoints, what cycles do by themselves, and the files in .forge/ that these name. */
function listRunnables(context: Context): Runnable[] {
  const { layout } = context;
  const listed = readFeatures(context);
  const { checkpoint, cycle, features: settings } = readConfig(context);
  const tests = listed.flatMap(({ id, tests = [] }) => tests.map((test) => ({ id, test })));
  const all = [
    ...fileRunnable(context, initScript(layout)),
    ...tests.flatMap(({ id, test }) => testRunnables(context, `feature ${id}`, test, settings.test_command)),
    ...checkpoint.verify.flatMap((command) => testRunnables(context, '[checkpoint] verify', command, '')),
    ...(['commit', 'checkpoint'] as const)
      .filter((key) => cycle[key])
      .map((key): Runnable => ({ kind: 'command', name: `[cycle] ${key}`, content: CYCLE_COMMANDS[key] })),
  ];
  // The same words in two features, or a script that both name, are approved once, under the first.
  const byDigest = new Map<string, Runnable>();
  for (const runnable of all) {
    const digest = digestRunnable(runnable);
    if (!byDigest.has(digest)) byDigest.set(digest, runnable);
  }
  return [...byDigest.values()];
}

/** A test that cannot be split into words can never run, so there is nothing to approve. */
function testRunnables(context: Context, name: string, test: string, template: string): Runnable[] {
  try {
    const argv = testArgv(test, template);
    return [{ kind: 'command', name, content: formatArgv(argv) }, ...filesIn(context, argv)];
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
  const bytes = readTarget(path, MAX_STATE_BYTES);
  return bytes ? [{ kind: 'file', name: shown(layout, path), content: bytes.toString('utf8') }] : [];
}

function readApproved(context: Context, identity: string): Approval[] {
  return readApprovals(trustFile(stateHome(context.world.env), identity), identity).approvals;
}

function approve(context: Context, runnables: readonly Runnable[], how: Approval['how']): void {
  const { world, layout, repository, disk } = context;
  if (disk.dryRun || runnables.length === 0) return;
  const identity = identityOf(layout.root, repository);
  const at = timestamp(context);
  const fresh = runnables.map((runnable) => ({ ...runnable, digest: digestRunnable(runnable), at, how }));
  const path = trustFile(stateHome(world.env), identity);
  addApprovals(path, identity, fresh, lockPolicy(world));
}

const Approvals = z.looseObject({
  schema_version: z.string(),
  identity: z.string(),
  approvals: z.array(
    z.looseObject({
      kind: z.enum(['file', 'command', 'rule']),
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

/** The approvals for one repository; none when the file is missing or speaks of another one. */
function readApprovals(path: string, identity: string): Approvals {
  const bytes = readPlain(path, MAX_STATE_BYTES);
  const none: Approvals = { schema_version: APPROVALS.version, identity, approvals: [] };
  if (!bytes) return none;
  const approvals = decodeDocument(APPROVALS, bytes, path);
  return approvals.identity === identity ? approvals : none;
}

/** Adds what is not there yet, readable by this person only. Durable on return. */
function addApprovals(path: string, identity: string, added: readonly Approval[], policy: LockPolicy): void {
  makeFolder(dirname(path), PRIVATE);
  withLock(join(dirname(path), 'lock'), policy, () => {
    const before = readApprovals(path, identity);
    const known = new Set(before.approvals.map(({ digest }) => digest));
    const fresh = added.filter(({ digest }) => !known.has(digest));
    if (fresh.length === 0) return;
    const after: Approvals = { ...before, approvals: [...before.approvals, ...fresh] };
    replaceFiles([{ path, bytes: encodeDocument(after), mode: 0o600 }]);
  });
}
