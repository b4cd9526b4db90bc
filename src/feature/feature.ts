import * as z from 'zod/mini';
import { formatArgv, splitCommand, testArgv } from '../core/argv.js';
import { refused, usage } from '../core/error.js';
import { checkId, checkInput } from '../core/schema.js';
import { checkText } from '../core/text.js';
import { readIssues } from '../learning/knowledge.js';
import { requireDecision } from '../ledger/audit.js';
import { requireMemory, storeAudit } from '../ledger/memory.js';
import { type Context, readConfig, requireSupervisor, timestamp } from '../project/project.js';
import { approveTests } from '../trust/trust.js';
import { planImport } from './import.js';
import { type Selection, selectNext } from './next.js';
import {
  asConfirmed,
  blockersOf,
  type Feature,
  type FeatureChange,
  isProven,
  makeId,
  overridden,
  planEdit,
  planFeature,
  planRemove,
  STATUSES,
  testsDiffer,
} from './rules.js';
import { readFeatures, requireFeature, updateFeatures } from './store.js';
import { type FirstRun, runFirst, type VerifyWatch } from './verify.js';

const Change = {
  tests: z.optional(z.array(z.string())),
  blocked_by: z.optional(z.array(z.string())),
  priority: z.optional(z.int().check(z.gte(1), z.lte(4))),
  linear_issue: z.optional(z.nullable(z.string())),
};
export const FeatureInput = z.strictObject({
  id: z.optional(z.string()),
  name: z.string(),
  /** False: the tests are not run once to see them fail. */
  run: z.optional(z.boolean()),
  ...Change,
});
export const FeatureEdit = z.strictObject({
  id: z.string(),
  name: z.optional(z.string()),
  status: z.optional(z.enum(STATUSES)),
  /** False: new tests are not run once to see them fail. */
  run: z.optional(z.boolean()),
  ...Change,
});
export type FeatureInput = z.infer<typeof FeatureInput>;
export type FeatureEdit = z.infer<typeof FeatureEdit>;

export interface FeatureList {
  features: Feature[];
}

export interface AddedFeature extends FeatureList {
  /** What the first run of its tests showed; absent without tests. */
  first_run?: FirstRun;
}

export const listFeatures = (context: Context): FeatureList => ({
  features: believe(context, readFeatures(context)),
});

/** Those that only claim to pass. */
export function claimsIn(context: Context, features: readonly Feature[]): Feature[] {
  const passing = features.filter(({ status }) => status === 'passing');
  if (passing.length === 0) return [];
  const { test_command } = readConfig(context).features;
  return passing.filter((feature) => !isProven(feature, commandsOf(feature, test_command)));
}

/** Features as they may be counted: one that is not shown to pass is in progress, and a warning says so. */
export function believe(context: Context, features: readonly Feature[]): Feature[] {
  const claims = claimsIn(context, features);
  warnOf(context, claims, 'marked passing, but not by a run of the tests as they are');
  if (claims.length === 0) return [...features];
  const doubtful = new Set(claims);
  return features.map((feature) => (doubtful.has(feature) ? { ...feature, status: 'in_progress' } : feature));
}

function warnOf(context: Context, features: readonly Feature[], why: string): void {
  if (features.length === 0) return;
  const named = features.slice(0, 3).map(({ id }) => id);
  const more = features.length > 3 ? ` and ${features.length - 3} more` : '';
  const warning = `${named.join(', ')}${more}: ${why}; counted as in_progress. forge done ${named[0]}`;
  if (!context.warnings.includes(warning)) context.warnings.push(warning);
}

/** The commands of a feature's tests as they stand; null when one cannot be run. */
export const presentCommands = (context: Context, feature: Feature): string[] | null =>
  commandsOf(feature, readConfig(context).features.test_command);

function commandsOf({ tests = [] }: Feature, template: string): string[] | null {
  try {
    return tests.map((test) => formatArgv(testArgv(test, template)));
  } catch {
    return null;
  }
}

export const showFeature = (context: Context, { id }: { id: string }): Feature =>
  requireFeature(listFeatures(context).features, id);

/** FEA-01. A test given here is approved by being entered: whoever typed it could have run it. FEA-05: it is run once. */
export async function addFeature(
  context: Context,
  raw: FeatureInput,
  watch: VerifyWatch = {},
): Promise<AddedFeature> {
  const { id, run = true, ...change } = checkInput(FeatureInput, raw);
  if (change.tests !== undefined) requireSupervisor(context, 'what features are judged by');
  if (id !== undefined) checkId(id, 'feature id');
  checkChange(context, change);
  const feature = changeFeatures(context, (features) => {
    if (id === undefined) refuseSameName(features, change.name);
    const added = planFeature(features, id ?? makeId(features, change.name), change, timestamp(context));
    return { features: [...features, added], result: added };
  });
  warnUnknown(context, feature);
  return tryTests(context, feature, run, watch);
}

/** The same name again is nearly always the same feature. With an id of its own it may be another one. */
function refuseSameName(features: readonly Feature[], name: string): void {
  const same = features.find((feature) => feature.name.toLowerCase() === name.toLowerCase());
  if (same)
    throw usage('feature.exists', `There is already a feature with that name: ${same.id}.`, {
      field: 'name',
      hint: `forge feature show ${same.id}`,
    });
}

/** FEA-05: new tests are run once, when they are entered. */
async function tryTests(
  context: Context,
  feature: Feature,
  run: boolean,
  watch: VerifyWatch,
): Promise<AddedFeature> {
  const { tests = [] } = feature;
  approveTests(context, tests);
  if (!run || tests.length === 0 || context.disk.dryRun) return { features: [feature] };
  const first_run = await runFirst(context, feature, watch);
  return { features: [requireFeature(readFeatures(context), feature.id)], first_run };
}

export async function editFeature(
  context: Context,
  raw: FeatureEdit,
  watch: VerifyWatch = {},
): Promise<AddedFeature> {
  const { id, run = true, ...change } = checkInput(FeatureEdit, raw);
  // Whoever is judged by the tests does not choose them.
  if (change.tests !== undefined) requireSupervisor(context, 'what features are judged by');
  if (Object.values(change).every((value) => value === undefined))
    throw usage('feature.nothing', 'Nothing to change.', { hint: `forge feature edit ${id} --help` });
  checkChange(context, change);
  const { before, feature } = changeFeatures(context, (features) => {
    const before = requireFeature(features, id);
    const edited = planEdit(features, before.id, change);
    const result = { before, feature: edited };
    return { features: features.map((other) => (other === before ? edited : other)), result };
  });
  if (change.blocked_by) warnUnknown(context, feature);
  if (testsDiffer(before, feature)) return tryTests(context, feature, run, watch);
  if (change.tests) approveTests(context, change.tests);
  return { features: [feature] };
}

/** Not refused: another branch may bring it. */
function warnUnknown(context: Context, feature: Feature): void {
  const features = readFeatures(context);
  for (const id of blockersOf(feature))
    if (!features.some((other) => other.id === id))
      context.warnings.push(
        `There is no feature ${id} yet; ${feature.id} waits until there is, and it passes.`,
      );
}

export function removeFeature(context: Context, { id }: { id: string }): { removed: Feature } {
  requireSupervisor(context, 'what features are judged by');
  return changeFeatures(context, (features) => {
    const removed = requireFeature(features, id);
    return { features: planRemove(features, removed.id), result: { removed } };
  });
}

/** Hundreds at once, all or nothing. Tests from a file were not typed here: they need `forge trust`. */
export function importFeatures(
  context: Context,
  { text }: { text: string },
): { features: Feature[]; known: string[] } {
  requireSupervisor(context, 'what features are judged by');
  return changeFeatures(context, (features) => {
    const plan = planImport(features, text, timestamp(context));
    return { features: [...features, ...plan.added], result: { features: plan.added, known: plan.known } };
  });
}

/** SES-10: what to do next, and why. */
export function nextTask(context: Context): Selection {
  return selectNext(listFeatures(context).features, readIssues(context).issues);
}

export const FeatureConfirmInput = z.strictObject({
  ids: z.optional(z.array(z.string())),
  all: z.optional(z.boolean()),
});

/** FEA-05: a person says that tests which were never seen to fail prove the feature all the same. */
export async function confirmFeatures(
  context: Context,
  raw: z.infer<typeof FeatureConfirmInput>,
): Promise<FeatureList> {
  const { ids = [], all = false } = checkInput(FeatureConfirmInput, raw);
  if (all === ids.length > 0)
    throw usage('feature.which', `Name the features to confirm, or give --all${all ? ', not both' : ''}.`, {
      hint: 'forge feature confirm --all',
    });
  const reason = 'the tests prove it, although they were never seen to fail';
  const decision = requireDecision(context, 'Confirming a feature', reason);
  const before = readFeatures(context);
  const named = all ? before.filter(({ unproven }) => unproven) : ids.map((id) => requireFeature(before, id));
  const confirmed = new Set(named.filter(({ unproven }) => unproven).map(({ id }) => id));
  if (confirmed.size === 0) return { features: named };
  requireMemory(context);
  storeAudit(context, { kind: 'feature_confirmed', features: [...confirmed], ...decision });
  const after = updateFeatures(context, (features) =>
    features.map((feature) => (confirmed.has(feature.id) ? asConfirmed(feature) : feature)),
  );
  return { features: after.filter(({ id }) => confirmed.has(id)) };
}

function checkChange(
  context: Context,
  { name, tests = [], blocked_by = [], linear_issue }: FeatureChange,
): void {
  if (name !== undefined) checkText(name, { what: 'The name', lines: false });
  for (const id of blocked_by) checkId(id, 'id');
  if (linear_issue) checkId(linear_issue, 'issue id');
  const asCommand = readConfig(context).features.test_command === '';
  for (const test of tests) {
    checkText(test, { what: 'The test', lines: false });
    if (asCommand) splitCommand(test);
  }
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

/** FEA-03: a human's word makes a feature passing without a test run; the audit ledger keeps who and why. */
export async function overrideFeature(
  context: Context,
  { id, reason }: { id: string; reason: string },
): Promise<FeatureList> {
  const decision = requireDecision(context, 'Marking a feature as passing without its tests', reason);
  const seen = requireFeature(readFeatures(context), id);
  requireMemory(context);
  const feature = changeFeatures(context, (features) => {
    const now = requireFeature(features, id);
    if (testsDiffer(now, seen))
      throw refused(
        'feature.changed',
        `The tests of ${now.id} were edited meanwhile; nothing was recorded.`,
        {
          hint: `forge feature show ${now.id}`,
        },
      );
    // The audit record first: a crash in between leaves a word without effect, never an effect without the word.
    const audit = storeAudit(context, {
      kind: 'feature_override',
      feature: now.id,
      before: now.status,
      tests: now.tests ?? [],
      ...decision,
    });
    const after = overridden(now, { audit: audit.id, at: timestamp(context), reason: decision.reason });
    return { features: features.map((other) => (other === now ? after : other)), result: after };
  });
  return { features: [feature] };
}
