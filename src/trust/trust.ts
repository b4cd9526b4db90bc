import { join, relative, resolve, sep } from 'node:path';
import { formatArgv, splitCommand, testArgv } from '../core/argv.js';
import { refused, unlessFailed } from '../core/error.js';
import { filesBelow, readPlain, readTarget, removePath } from '../core/files.js';
import { MAX_STATE_BYTES } from '../core/json.js';
import { architectureFile, initScript, shown, skillsFolder } from '../core/paths.js';
import { templatesFolder } from '../core/templates.js';
import { isBinary, plural, sha256 } from '../core/text.js';
import { readFeatures } from '../feature/store.js';
import { parseInvariants, readLearnings } from '../knowledge/rules.js';
import { readMemory } from '../ledger/memory.js';
import { type Context, readConfig, refuseAgent, requireSupervisor } from '../project/project.js';
import {
  approvalsFile,
  approve,
  approvedBy,
  approvedHere,
  CYCLE_COMMANDS,
  digestAll,
  forget,
  identityHere,
  judgeTrust,
  missingRules,
  type Runnable,
  readApprovals,
  runnable,
  toUrl,
  trustValue,
} from './approvals.js';

export type TrustReport = ReturnType<typeof showTrust>;

/**
 * Everything from this repository that forge would run, where it would connect to, and what agents would obey, and whether
 * it may. `digest`: a value of FORGE_TRUST that approves everything that runs, in CI, in this repository and its clones.
 * An agent does not get it, because it could set CI itself.
 */
export function showTrust(context: Context) {
  const runnables = listRunnables(context);
  const ledger = ledgerId(context);
  const inCi = approvedBy(ciApproval(context.world.env), ledger, runnables);
  const [named, approvals] = [listNamed(context), readApprovals(context)];
  const items = [
    ...judgeTrust(runnables, approvals).map((item) =>
      inCi(item) ? { ...item, state: 'trusted' as const } : item,
    ),
    ...judgeTrust(named, approvals),
    ...missingRules(named, approvals),
  ];
  const trusted = items.every(({ state }) => state === 'trusted');
  const digest = context.world.isAgent ? undefined : digestAll(ledger, runnables);
  return { identity: identityHere(context), digest, items, trusted };
}

/** Only a pipeline approves by environment variable: one left over in a shell approves nothing. */
const ciApproval = ({ CI = '', FORGE_TRUST = '' }: NodeJS.ProcessEnv): string =>
  ['', '0', 'false'].includes(CI) ? '' : FORGE_TRUST;

/** All clones share the ledger's id; '' without a ledger. */
const ledgerId = (context: Context): string => readMemory(context).graph.ledger() ?? '';

/** The value of FORGE_TRUST that approves exactly these commands, with the files that they name. */
export function trustValueOf(context: Context, commands: readonly string[]): string {
  const wanted = new Set(commandRunnables(context, commands).map(({ digest }) => digest));
  const listed = listRunnables(context).filter(({ digest }) => wanted.has(digest));
  return trustValue(ledgerId(context), listed);
}

/** A person at a terminal approves what was shown: the report's digest, and `rules` (and addresses). Exit 3 for anybody else. */
export function approveTrust(
  context: Context,
  input: { digest: string | undefined; rules?: readonly string[] },
): TrustReport {
  requireSupervisor(context, 'trust');
  refuseAgent(context, 'Approving what this repository runs');
  if (!context.world.terminal)
    throw refused('trust.no_terminal', 'Only a person at a terminal can approve what this repository runs.', {
      hint: 'In CI, with CI=1: FORGE_TRUST=<the sha256 that "forge trust --show" prints>',
    });
  const runnables = listRunnables(context);
  if (digestAll(ledgerId(context), runnables) !== input.digest)
    throw refused('trust.changed', 'It changed while you were reading; nothing was approved.', {
      hint: 'forge trust',
    });
  const isRead = ({ digest }: Runnable): boolean => input.rules?.includes(digest) ?? false;
  const named = listNamed(context);
  approve(context, [...runnables, ...named.filter(isRead)]);
  forget(context, missingRules(named, readApprovals(context)).filter(isRead));
  return showTrust(context);
}

export function revokeTrust(context: Context): TrustReport {
  requireSupervisor(context, 'trust');
  refuseAgent(context, 'Taking back what was approved');
  if (!context.disk.dryRun) removePath(approvalsFile(context));
  return showTrust(context);
}

/** Approves tests that were just entered through forge. */
export function approveTests(context: Context, tests: readonly string[]): void {
  const template = readConfig(context).features.test_command;
  const entered = new Set(tests.map((test) => formatArgv(testArgv(test, template))));
  const isEntered = ({ kind, content }: Runnable): boolean => kind === 'command' && entered.has(content);
  approve(context, listRunnables(context).filter(isEntered));
}

/** Approves commands that were just typed, with the files of `.forge/` that they name. */
export const approveTyped = (context: Context, commands: readonly string[]): void =>
  approve(context, commandRunnables(context, commands));

export const approveInitScript = (context: Context): void =>
  approve(context, fileRunnable(context, initScript(context.layout)));

export function approveRules(context: Context, texts: readonly string[]): void {
  if (context.world.terminal) approve(context, texts.map(toRule));
}

/** Forgets invariants that a person just removed, unless they are stated elsewhere too. */
export function forgetRules(context: Context, texts: readonly string[]): void {
  const stated = new Set(listRules(context).map(({ digest }) => digest));
  const removed = texts.map(toRule).filter(({ digest }) => !stated.has(digest));
  if (context.world.terminal) forget(context, removed);
}

/** `1 approved invariant is missing`; null if none is. */
export function describeMissing(context: Context): string | null {
  const { length } = missingRules(listRules(context), readApprovals(context));
  return length === 0
    ? null
    : `${plural(length, 'approved invariant')} ${length === 1 ? 'is' : 'are'} missing`;
}

/** Returns which invariants a person approved on this machine, word for word. */
export function approvedRules(context: Context): (text: string) => boolean {
  const isApproved = approvedHere(context);
  return (text) => isApproved(toRule(text));
}

/**
 * Exit 3 `trust.needed` unless all are approved. A checkpoint may name commands that `forge trust` does not list; `features`
 * are those that were asked for, by command.
 */
export function requireTrust(
  context: Context,
  commands: readonly string[],
  files: readonly string[] = [],
  features?: ReadonlyMap<string, string>,
): void {
  const { blocking, listed, hint } = findUnapproved(context, commands, files);
  if (!blocking) return;
  const { kind, name, content } = blocking;
  const feature = features?.get(content);
  const owner = kind === 'file' ? name : feature ? `feature ${feature}` : (listed?.name ?? 'checkpoint');
  const what = kind === 'file' ? name : `"${content}" (${owner})`;
  const isChanged = listed?.state === 'changed' && listed.name === owner;
  const why = isChanged ? 'changed since it was approved' : 'was not approved here';
  throw refused('trust.needed', `${what} ${why}; nothing was run.`, { hint });
}

/** How to approve these commands. Null if they are approved. */
export function howToApprove(context: Context, commands: readonly string[]): string | null {
  const { blocking, hint } = findUnapproved(context, commands, []);
  return blocking ? hint : null;
}

/** The first of these that was not approved, what `forge trust` shows about it, and how to approve it. */
function findUnapproved(context: Context, commands: readonly string[], files: readonly string[]) {
  const items = new Map(showTrust(context).items.map((item) => [item.digest, item]));
  const isApproved = approvedHere(context);
  const wanted = [
    ...commandRunnables(context, commands),
    ...files.flatMap((path) => fileRunnable(context, path)),
  ];
  const blocking = wanted.find((one) => !isApproved(one) && items.get(one.digest)?.state !== 'trusted');
  const listed = blocking && items.get(blocking.digest);
  const unlisted = '   # after putting the command into [checkpoint] verify of .forge/config.toml';
  const trust = context.world.isAgent ? 'ask a human to run forge trust at a terminal' : 'forge trust';
  return { blocking, listed, hint: `${trust}${listed ? '' : unlisted}` };
}

/** What is approved one by one: the address of the event server and the invariants. */
const listNamed = (context: Context): Runnable[] => {
  const { url } = readConfig(context).events;
  return [...(url === '' ? [] : [toUrl(url)]), ...listRules(context)];
};

const toRule = (text: string): Runnable => runnable('rule', 'invariant', text);

/** Every invariant once: those of architecture.md, then those that were entered. */
function listRules({ disk, layout }: Context): Runnable[] {
  const architecture = unlessFailed('', () => disk.read(architectureFile(layout))?.toString('utf8') ?? '');
  const texts = [
    ...parseInvariants(architecture),
    ...readLearnings(disk).flatMap((entry) => (entry.kind === 'invariant' ? [entry.text] : [])),
  ];
  return [...new Set(texts)].map(toRule);
}

/** init.sh, features' tests, checkpoints' commands, what cycles do by themselves, and the files that these name. */
function listRunnables(context: Context): Runnable[] {
  const { checkpoint, cycle, features } = readConfig(context);
  const all = [
    ...fileRunnable(context, initScript(context.layout)),
    ...readFeatures(context).flatMap(({ id, tests = [] }) =>
      tests.flatMap((test) => testRunnables(context, `feature ${id}`, test, features.test_command)),
    ),
    ...checkpoint.verify.flatMap((command) => testRunnables(context, '[checkpoint] verify', command, '')),
    ...skillNames(context).flatMap((name) => skillRunnables(context, name)),
    ...(['commit', 'checkpoint'] as const)
      .filter((key) => cycle[key])
      .map((key) => runnable('command', `[cycle] ${key}`, CYCLE_COMMANDS[key])),
  ];
  // Equal commands and files are approved once, under the first name.
  const digests = all.map(({ digest }) => digest);
  return all.filter(({ digest }, i) => digests.indexOf(digest) === i);
}

export const skillNames = ({ disk, layout }: Context): string[] => disk.listFolders(skillsFolder(layout));

/** A skill instructs agents, so its files are approved like code. Skills that forge ships need no approval. */
function skillRunnables(context: Context, name: string): Runnable[] {
  const folder = join(skillsFolder(context.layout), name);
  return filesBelow(folder, MAX_SKILL_FILES)
    .map((file) => join(folder, file))
    .filter((path) => !isShipped(path, relative(context.layout.dir, path)))
    .flatMap((path) => fileRunnable(context, path));
}

const MAX_SKILL_FILES = 1000;

/** Whether a file is as forge ships it. `name` is its path below `.forge/`. */
export function isShipped(path: string, name: string): boolean {
  const shipped = readPlain(join(templatesFolder(), 'forge', name), MAX_STATE_BYTES);
  return shipped !== null && readPlain(path, MAX_STATE_BYTES)?.equals(shipped) === true;
}

/** Returns which skills a person approved here, or forge ships. */
export function approvedSkills(context: Context): (name: string) => boolean {
  const isApproved = approvedHere(context);
  return (name) => skillRunnables(context, name).every(isApproved);
}

export const approveSkill = (context: Context, name: string): void => {
  if (!context.disk.dryRun) approve(context, skillRunnables(context, name));
};

/** A test that cannot be split into words can never run, so it needs no approval. */
const testRunnables = (context: Context, name: string, test: string, template: string): Runnable[] =>
  unlessFailed([], () => {
    const argv = testArgv(test, template);
    return [runnable('command', name, formatArgv(argv)), ...filesIn(context, argv)];
  });

const commandRunnables = (context: Context, commands: readonly string[]): Runnable[] =>
  commands.flatMap((command) => [
    runnable('command', 'checkpoint', command),
    ...filesIn(context, splitCommand(command)),
  ]);

/** Scripts in .forge/ came with the clone, like the command that names them. */
function filesIn(context: Context, argv: readonly string[]): Runnable[] {
  const { root, dir } = context.layout;
  const paths = argv.map((word) => resolve(root, word)).filter((path) => path.startsWith(dir + sep));
  return paths.flatMap((path) => fileRunnable(context, path));
}

/** Follows symlinks, so that a changed target is a change too. A binary file is shown as its hash. */
function fileRunnable({ layout }: Context, path: string): Runnable[] {
  const bytes = readTarget(path, MAX_STATE_BYTES);
  if (!bytes) return [];
  const content = isBinary(bytes)
    ? `binary, ${bytes.length} bytes, SHA-256 ${sha256(bytes)}`
    : bytes.toString('utf8');
  return [runnable('file', shown(layout, path), content)];
}
