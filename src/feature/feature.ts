import * as z from 'zod/mini';
import { formatArgv, testArgv } from '../core/argv.js';
import { explainSyntax, ForgeError, unlessFailed, usage } from '../core/error.js';
import { parseJson } from '../core/json.js';
import { shownFrom } from '../core/paths.js';
import { checkId, checkInput, findTwin, isSameId } from '../core/schema.js';
import { checkText, compareText, firstNames } from '../core/text.js';
import { describeOthersClaims } from '../events/local-claims.js';
import { eventUrl } from '../events/outbox.js';
import { isSameOutside } from '../git/read.js';
import { requireDecision } from '../ledger/audit.js';
import { type LedgerRecord, readRecords, storeAudit } from '../ledger/memory.js';
import { textIn, textsIn } from '../ledger/record.js';
import { type Context, readConfig, requireSupervisor, timestamp, warnOnce } from '../project/project.js';
import { approveTests } from '../trust/trust.js';
import {
  blockersOf,
  checkRemoval,
  Feature,
  type FeatureChange,
  FeatureEdit,
  FeatureInput,
  isProven,
  makeId,
  planEdit,
  planFeature,
  refuseSameName,
  requireFeature,
  STATUSES,
  testsDiffer,
  trustTests,
  withoutEvidence,
} from './rules.js';
import { readActive, readFeatures, updateFeatures } from './store.js';
import { type Selection, selectNext } from './tasks.js';
import {
  checkChoice,
  type FeatureChoice,
  type FirstRun,
  runFirst,
  type VerificationRun,
  type VerifyWatch,
} from './verify.js';

export interface FeatureList {
  features: Feature[];
}

export interface AddedFeature extends FeatureList {
  first_run?: FirstRun;
}

const JUDGED_BY = 'what features are judged by';

const FeatureFilter = z.looseObject({ status: z.optional(z.enum(STATUSES)) });

export function listFeatures(context: Context, raw?: z.infer<typeof FeatureFilter>): FeatureList {
  const { status } = checkInput(FeatureFilter, raw);
  const features = believe(context, readFeatures(context));
  return { features: status ? features.filter((feature) => feature.status === status) : features };
}

/** A run of its tests that memory has: the command that failed, or the last one. */
export interface RecordedRun extends Pick<VerificationRun, 'command' | 'exit_code' | 'not_run'> {
  at: string;
  commit: string | null;
  /** Files outside `.forge/` differed from the commit. */
  dirty?: boolean;
}

/** With the last run of its tests, and the last one that passed if that is another one. */
export interface ShownFeature extends Feature {
  last_run?: RecordedRun;
  last_pass?: RecordedRun;
  /** When a person accepted its tests, which have not failed since (FEA-05). */
  confirmed_at?: string;
}

export function showFeature(context: Context, { id }: { id: string }): ShownFeature {
  const feature = requireFeature(listFeatures(context).features, id);
  const runs = readRecords(context, 'evaluation')
    .filter(({ record }) => record.kind === 'verification')
    .flatMap(({ record }) =>
      (record.runs as VerificationRun[]).flatMap((run) =>
        run.feature === feature.id ? describeRun(record, run) : [],
      ),
    );
  const last_run = runs.at(-1);
  const last_pass = runs.findLast(({ exit_code, not_run }) => exit_code === 0 && !not_run);
  const confirmed = readRecords(context, 'audit').findLast(
    ({ record }) => record.kind === 'feature_confirmed' && textsIn(record.features).includes(feature.id),
  );
  const confirmed_at = confirmed && String(confirmed.record.at);
  const hasFailedSince = runs.some(
    ({ at, exit_code, not_run }) => at > String(confirmed_at) && exit_code !== 0 && !not_run,
  );
  return {
    ...feature,
    ...(confirmed_at && feature.status === 'passing' && !hasFailedSince && { confirmed_at }),
    ...(last_run && { last_run }),
    ...(last_pass && last_pass !== last_run && { last_pass }),
  };
}

const describeRun = (
  { at, commit, dirty }: LedgerRecord,
  { command, exit_code, not_run }: VerificationRun,
): RecordedRun => ({
  ...{ at: String(at), commit: textIn(commit), command, exit_code },
  ...(dirty ? { dirty: true } : {}),
  ...(not_run ? { not_run } : {}),
});

/** The feature that passed last with uncommitted changes, if HEAD has the code from before them. The tree is clean. */
export async function passedWithLostCode(context: Context): Promise<string | null> {
  const { git, repository, layout } = context;
  const [last] = readFeatures(context)
    .filter(({ status, verified_dirty }) => status === 'passing' && verified_dirty)
    .sort((a, b) => compareText(b.verified_at ?? '', a.verified_at ?? ''));
  if (!git || !repository || !last?.verified_commit) return null;
  const folder = shownFrom(repository.root, layout.dir);
  if (!(await isSameOutside(git, last.verified_commit, 'HEAD', folder))) return null;
  // It may have passed without them, too.
  return showFeature(context, last).last_run?.dirty ? last.id : null;
}

/** SES-10: what to do next, and why. */
export const nextTask = (context: Context): Selection =>
  selectNext(listFeatures(context).features, readActive(context), describeOthersClaims(context));

/** The same, after asking the server what others hold (EVT-03). */
export async function nextFreeTask(context: Context): Promise<Selection> {
  if (eventUrl(context) !== null) await (await import('../events/claim.js')).refreshHeld(context);
  return nextTask(context);
}

/** Features that are marked passing without evidence for their current tests. */
export function claimsIn(context: Context, features: readonly Feature[]): Feature[] {
  const passing = features.filter(({ status }) => status === 'passing');
  if (passing.length === 0) return [];
  const { test_command } = readConfig(context).features;
  return passing.filter((feature) => !isProven(feature, presentCommands(context, feature, test_command)));
}

/** The features as they count: `passing` without evidence is in_progress, with a warning. */
export function believe(context: Context, features: readonly Feature[]): Feature[] {
  const claims = claimsIn(context, features);
  if (claims.length === 0) return [...features];
  const ids = claims.map(({ id }) => id);
  const why = 'marked passing, but not by a run of the current tests; counted as in_progress.';
  warnOnce(context, `${firstNames(ids, 3)}: ${why} forge done ${ids[0]}`);
  return features.map((feature) =>
    claims.includes(feature) ? { ...feature, status: 'in_progress' } : feature,
  );
}

/** The commands of a feature's current tests; null when one cannot be run. */
export const presentCommands = (
  context: Context,
  { tests = [] }: Feature,
  template = readConfig(context).features.test_command,
): string[] | null => unlessFailed(null, () => tests.map((test) => formatArgv(testArgv(test, template))));

/** FEA-01. Entering a test approves it, because the caller could have run it directly. FEA-05: it is run once. */
export async function addFeature(
  context: Context,
  raw: FeatureInput,
  watch: VerifyWatch = {},
): Promise<AddedFeature> {
  const { id, run = true, ...change } = checkInput(FeatureInput, raw);
  checkChange(context, change);
  const feature = changeFeatures(context, (features) => {
    if (id === undefined) refuseSameName(features, change.name);
    const added = planFeature(features, id ?? makeId(features, change.name), change, timestamp(context));
    return { features: [...features, added], result: added };
  });
  return tryTests(context, feature, run, watch);
}

export async function editFeature(
  context: Context,
  raw: FeatureEdit,
  watch: VerifyWatch = {},
): Promise<AddedFeature> {
  const { id, run = true, ...change } = checkInput(FeatureEdit, raw);
  if (Object.values(change).every((value) => value === undefined))
    throw usage('feature.nothing', 'Nothing to change.', { hint: `forge feature edit ${id} --help` });
  checkChange(context, change, id);
  const { before, feature } = changeFeatures(context, (features) => {
    const before = requireFeature(features, id);
    const feature = planEdit(features, id, change);
    return { features: features.with(features.indexOf(before), feature), result: { before, feature } };
  });
  if (testsDiffer(before, feature)) return tryTests(context, feature, run, watch, before);
  if (change.tests) approveTests(context, change.tests);
  return { features: [feature] };
}

const LABELS = { name: 'The name', tests: 'The test', blocked_by: 'id', linear_issue: 'issue id' };

/** `at`: where a list has the feature: `features[3].` */
function checkTexts({ name, tests = [], blocked_by = [], linear_issue }: FeatureChange, at = ''): void {
  const label = (field: keyof typeof LABELS): string => (at === '' ? LABELS[field] : `${at}${field}`);
  if (name !== undefined) checkText(name, { what: label('name'), lines: false });
  for (const test of tests) checkText(test, { what: label('tests'), lines: false });
  for (const id of blocked_by) checkId(id, label('blocked_by'));
  if (linear_issue) checkId(linear_issue, label('linear_issue'));
}

function checkChange(context: Context, change: FeatureChange, id = ''): void {
  // A builder does not choose the tests that judge its work.
  if (change.tests !== undefined) requireSupervisor(context, JUDGED_BY);
  checkTexts(change);
  const { test_command } = readConfig(context).features;
  for (const test of change.tests ?? []) testArgv(test, test_command);
  if (!change.blocked_by) return;
  const features = readFeatures(context);
  // An import or another branch may have brought the id of a feature that is not here.
  const old = blockersOf(findTwin(features, id) ?? {}).map((blocker) => ({ id: blocker }));
  for (const blocker of change.blocked_by) requireFeature([...features, ...old], blocker);
}

/** Approves the new tests and runs them once. B-88: a server approves nothing, since its client may have no shell. */
async function tryTests(
  context: Context,
  feature: Feature,
  run: boolean,
  watch: VerifyWatch,
  before?: Feature,
): Promise<AddedFeature> {
  const { tests = [] } = feature;
  if (!context.world.tool) approveTests(context, tests);
  if (!run || tests.length === 0 || context.disk.dryRun) return { features: [feature] };
  const first_run = await runFirst(context, feature, watch, before).catch((error) => {
    if (!context.world.tool || !(error instanceof ForgeError) || error.code !== 'trust.needed') throw error;
    // It has to be seen to fail later.
    updateFeatures(context, (all) =>
      all.map((now) => (now.id === feature.id ? { ...now, unproven: true } : now)),
    );
    return { result: 'not_run' as const, reason: error.message, command: tests.join('; ') };
  });
  return { features: [requireFeature(readFeatures(context), feature.id)], first_run };
}

export function removeFeature(context: Context, { id }: { id: string }): { removed: Feature } {
  requireSupervisor(context, JUDGED_BY);
  return changeFeatures(context, (features) => {
    const removed = checkRemoval(features, id);
    return { features: features.filter((feature) => feature !== removed), result: { removed } };
  });
}

/** FEA-05: a person accepts tests that have never failed. */
export async function confirmFeatures(context: Context, raw: FeatureChoice): Promise<FeatureList> {
  const { ids, all } = checkChoice(raw, 'confirm');
  const reason = 'the tests prove it although they have never failed';
  const decision = requireDecision(context, 'Confirming a feature', reason);
  const before = readFeatures(context);
  const named = all ? before.filter(({ unproven }) => unproven) : ids.map((id) => requireFeature(before, id));
  const confirmed = new Set(named.filter(({ unproven }) => unproven).map(({ id }) => id));
  if (confirmed.size === 0) return { features: named };
  storeAudit(context, { kind: 'feature_confirmed', features: [...confirmed], ...decision });
  const after = updateFeatures(context, (features) =>
    features.map((feature) => (confirmed.has(feature.id) ? trustTests(feature) : feature)),
  );
  return { features: after.filter(({ id }) => confirmed.has(id)) };
}

/** FEA-03: a person makes a feature passing without a test run. The audit tier keeps who and why. */
export async function overrideFeature(
  context: Context,
  { id, reason }: { id: string; reason: string },
): Promise<FeatureList> {
  const decision = requireDecision(context, 'Marking a feature as passing without its tests', reason);
  const feature = changeFeatures(context, (features) => {
    const before = requireFeature(features, id);
    const { status, tests = [] } = before;
    const record = { kind: 'feature_override', feature: before.id, before: status, tests, ...decision };
    // The audit record first: after a crash in between there is a record without effect, never the reverse.
    const audit = storeAudit(context, record).id;
    const override = { audit, at: timestamp(context), reason: decision.reason, tests };
    const after: Feature = { ...withoutEvidence(before), status: 'passing', override };
    return { features: features.with(features.indexOf(before), after), result: after };
  });
  return { features: [feature] };
}

function changeFeatures<T>(
  context: Context,
  plan: (features: Feature[]) => { features: Feature[]; result: T },
): T {
  let result: T | undefined;
  updateFeatures(context, (before) => {
    const planned = plan(before);
    result = planned.result;
    return planned.features;
  });
  return result as T;
}

/** `done`: names that were ticked or cancelled, which are not imported. */
export interface ImportedFeatures extends FeatureList {
  known: string[];
  done: string[];
}

/** Imports hundreds at once, all or nothing. Tests from a file were not typed here, so they need `forge trust`. */
export function importFeatures(context: Context, { text }: { text: string }): ImportedFeatures {
  requireSupervisor(context, JUDGED_BY);
  return changeFeatures(context, (features) => {
    const { added, known, done } = planImport(features, text, timestamp(context));
    const all = [...features, ...added];
    const unknown = added.flatMap(blockersOf).filter((blocker) => !findTwin(all, blocker));
    if (unknown.length > 0)
      context.warnings.push(`blocked_by names no feature here: ${firstNames(unknown, 3)}`);
    return { features: all, result: { features: added, known, done } };
  });
}

type ListEntry = FeatureChange & { id?: string | undefined; name: string; ticked?: boolean };

/**
 * Plans the new features of a JSON list (an array, or `{features: […]}`) or a Markdown list (`- [ ] ID: name`, `- name`,
 * with `test: COMMAND` indented below it). One bad line refuses the whole list (exit 2). `passing` is never imported: it
 * has to be verified here. So a ticked line is left out.
 */
export function planImport(features: readonly Feature[], text: string, now: string) {
  const entries = /^\s*[[{]/.test(text) ? readJsonList(text) : readMarkdownList(text);
  if (entries.length === 0)
    throw usage('import.empty', 'That list contains no features.', {
      hint: 'A Markdown list ("- FORGE-001: Login works", with "test: COMMAND" indented below) or a JSON array with "name" fields.',
    });
  const added: Feature[] = [];
  const [known, done]: [string[], string[]] = [[], []];
  for (const { ticked, ...entry } of entries) {
    const { id, name } = entry;
    const matches = (one: Feature): boolean =>
      id === undefined ? isSameName(one.name, name) : isSameId(one.id, id);
    const twin = added.find(matches);
    const all = [...features, ...added];
    if (ticked) done.push(name);
    else if (features.some(matches) || (twin && isSameName(twin.name, name))) known.push(id ?? name);
    else if (twin)
      throw usage('import.twice', `The list has the id ${twin.id} twice: ${twin.name}, and ${name}.`, {
        hint: 'Give one of them another id. Nothing was imported.',
      });
    else added.push(planFeature(all, id ?? nextId(all), entry, now));
  }
  return { added, known, done };
}

/** The number after the largest `FORGE-NNN`: these ids keep the order of the list. */
function nextId(features: readonly Feature[]): string {
  const numbers = features.map((feature) => Number(/^FORGE-(\d+)$/i.exec(feature.id)?.[1] ?? 0));
  return `FORGE-${String(Math.max(0, ...numbers) + 1).padStart(3, '0')}`;
}

const isSameName = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase();

const Row = z.looseObject({
  id: z.optional(z.string()),
  name: z.optional(z.string()),
  description: z.optional(z.string()),
  status: z.optional(z.enum(STATUSES)),
  passes: z.optional(z.boolean()),
  test: z.optional(z.string()),
  ...z.pick(Feature, { tests: true, blocked_by: true, priority: true, linear_issue: true }).shape,
});

function readJsonList(text: string): ListEntry[] {
  const value = explainSyntax(parseJson, text, ({ message, line }) =>
    usage('import.json', `Line ${line}: ${message}.`, { line }),
  );
  const list = Array.isArray(value) ? value : (value as { features?: unknown }).features;
  return checkInput(z.object({ features: z.array(Row) }), { features: list }).features.map(fromRow);
}

function fromRow(row: z.infer<typeof Row>, index: number): ListEntry {
  const { id, status, priority, linear_issue } = row;
  const at = `features[${index}]`;
  const name = row.name ?? row.description ?? id;
  if (name === undefined) throw usage('import.name', `${at} has no name.`, { field: `${at}.name` });
  const blockers = blockersOf(row).filter((blocker) => blocker !== '');
  const entry: ListEntry = {
    ...{ id, name, priority, linear_issue, tests: row.tests ?? (row.test === undefined ? [] : [row.test]) },
    // There is no evidence here of what passed elsewhere.
    status: status === 'passing' || row.passes ? 'in_progress' : status,
    blocked_by: blockers.length > 0 ? blockers : undefined,
  };
  checkTexts(entry, `${at}.`);
  return entry;
}

/** An empty box is no item. `[-]` is how some editors cancel one. */
const ITEM =
  /^\s*(?:[-*+]|\d+[.)])\s+(?!\s*\[[ xX-]\]\s*$)(?:\[([ xX-])\]\s+)?(?:([A-Za-z][A-Za-z0-9._]*-\d+)\s*[:–—-]?\s+)?(.+?)\s*$/s;

/** `test: npm test -- login`, indented below a feature. */
const ITEM_TEST = /^\s+(?:[-*+]\s+)?tests?:\s*(`?)(.+?)\1\s*$/i;

const FENCED = /^[ \t]*(`{3,}|~{3,})[\s\S]*?\n[ \t]*\1.*$/gm;

function readMarkdownList(text: string): ListEntry[] {
  const entries: ListEntry[] = [];
  const prose = text.replace(FENCED, (block) => block.replace(/.+/g, ''));
  for (const [index, line] of prose.split('\n').entries()) {
    const what = `Line ${index + 1}`;
    const test = ITEM_TEST.exec(line)?.[2];
    const last = entries.at(-1);
    const [item, tick, id, name = ''] = ITEM.exec(line) ?? [];
    if (test !== undefined && last)
      last.tests = [...(last.tests ?? []), checkText(test, { what, lines: false })];
    else if (item)
      entries.push({
        id,
        name: checkText(name, { what, lines: false }),
        ticked: tick !== undefined && tick !== ' ',
      });
  }
  return entries;
}
