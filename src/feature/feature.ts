import * as z from 'zod/mini';
import { formatArgv, splitCommand, testArgv } from '../core/argv.js';
import { refused, usage } from '../core/error.js';
import { featuresFile } from '../core/paths.js';
import { checkId, checkInput, requireRecord } from '../core/schema.js';
import { checkText } from '../core/text.js';
import { readIssues } from '../learning/investigation.js';
import { requireDecision } from '../ledger/human.js';
import { requireMemory, storeAudit } from '../ledger/memory.js';
import { type Context, readConfig, requireSupervisor, timestamp } from '../project/project.js';
import { approveTests } from '../trust/trust.js';
import { planImport } from './import.js';
import { type Selection, selectNext } from './next.js';
import {
  FEATURES,
  type Feature,
  type FeatureChange,
  type Features,
  isProven,
  overridden,
  planEdit,
  planFeature,
  planRemove,
  STATUSES,
  testsDiffer,
} from './rules.js';

const Change = {
  tests: z.optional(z.array(z.string())),
  blocked_by: z.optional(z.array(z.string())),
  priority: z.optional(z.int().check(z.gte(1), z.lte(4))),
  linear_issue: z.optional(z.nullable(z.string())),
};
export const FeatureInput = z.strictObject({ id: z.string(), name: z.string(), ...Change });
export const FeatureEdit = z.strictObject({
  id: z.string(),
  name: z.optional(z.string()),
  status: z.optional(z.enum(STATUSES)),
  ...Change,
});
export type FeatureInput = z.infer<typeof FeatureInput>;
export type FeatureEdit = z.infer<typeof FeatureEdit>;

export interface FeatureList {
  features: Feature[];
}

export function listFeatures(context: Context): FeatureList {
  const { disk, layout } = context;
  return { features: believe(context, disk.requireDocument(FEATURES, featuresFile(layout)).value.features) };
}

/** Those that only claim to pass. */
export function claimsIn(context: Context, features: readonly Feature[]): Feature[] {
  const passing = features.filter(({ status }) => status === 'passing');
  if (passing.length === 0) return [];
  const { test_command } = readConfig(context).features;
  return passing.filter((feature) => !isProven(feature, commandsOf(feature, test_command)));
}

/** Features as they may be counted: one that only claims to pass is in progress, and a warning says so. */
export function believe(context: Context, features: readonly Feature[]): Feature[] {
  const claims = claimsIn(context, features);
  if (claims.length === 0) return [...features];
  const named = claims.slice(0, 3).map(({ id }) => id);
  const which = `${named.join(', ')}${claims.length > 3 ? ` and ${claims.length - 3} more` : ''}`;
  const warning = `${which}: marked passing, but not by a run of the tests as they are; counted as in_progress. forge feature verify ${named[0]}`;
  if (!context.warnings.includes(warning)) context.warnings.push(warning);
  return features.map((feature) =>
    claims.includes(feature) ? { ...feature, status: 'in_progress' } : feature,
  );
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

export function showFeature(context: Context, { id }: { id: string }): Feature {
  return requireRecord(listFeatures(context).features, id, 'feature');
}

/** FEA-01. A test given here is approved by being entered: whoever typed it could have run it. */
export function addFeature(context: Context, raw: FeatureInput): FeatureList {
  const { id, ...change } = checkInput(FeatureInput, raw);
  if (change.tests !== undefined) requireSupervisor(context, 'what features are judged by');
  checkId(id, 'feature id');
  checkChange(context, change);
  const feature = changeFeatures(context, (features) => {
    const added = planFeature(features, id, change, timestamp(context));
    return { features: [...features, added], result: added };
  });
  approveTests(context, feature.tests ?? []);
  return { features: [feature] };
}

export function editFeature(context: Context, raw: FeatureEdit): FeatureList {
  const { id, ...change } = checkInput(FeatureEdit, raw);
  // Whoever is judged by the tests does not choose them.
  if (change.tests !== undefined) requireSupervisor(context, 'what features are judged by');
  if (Object.values(change).every((value) => value === undefined))
    throw usage('feature.nothing', 'Nothing to change.', { hint: `forge feature edit ${id} --help` });
  checkChange(context, change);
  const feature = changeFeatures(context, (features) => {
    const edited = planEdit(features, id, change);
    return { features: features.map((other) => (other.id === id ? edited : other)), result: edited };
  });
  if (change.tests) approveTests(context, change.tests);
  return { features: [feature] };
}

export function removeFeature(context: Context, { id }: { id: string }): { removed: Feature } {
  requireSupervisor(context, 'what features are judged by');
  return changeFeatures(context, (features) => ({
    features: planRemove(features, id),
    result: { removed: requireRecord(features, id, 'feature') },
  }));
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
  const { disk, layout } = context;
  let result: T | undefined;
  disk.update<Features>(FEATURES, featuresFile(layout), (before) => {
    const planned = plan(before.features);
    result = planned.result;
    return { ...before, features: planned.features };
  });
  return result as T;
}

/** FEA-03: a human's word makes a feature passing without a test run; the audit ledger keeps who and why. */
export async function overrideFeature(
  context: Context,
  { id, reason }: { id: string; reason: string },
): Promise<FeatureList> {
  const decision = requireDecision(context, 'Marking a feature as passing without its tests', reason);
  const file = featuresFile(context.layout);
  const seen = requireRecord(context.disk.requireDocument(FEATURES, file).value.features, id, 'feature');
  requireMemory(context);
  let after: Feature = seen;
  context.disk.update<Features>(FEATURES, file, (before) => {
    const now = requireRecord(before.features, id, 'feature');
    if (testsDiffer(now, seen))
      throw refused('feature.changed', `The tests of ${id} were edited meanwhile; nothing was recorded.`, {
        hint: `forge feature show ${id}`,
      });
    // The audit record first: a crash in between leaves a word without effect, never an effect without the word.
    const audit = storeAudit(context, {
      kind: 'feature_override',
      feature: id,
      before: now.status,
      tests: now.tests ?? [],
      ...decision,
    });
    after = overridden(now, {
      audit: audit.id,
      at: timestamp(context),
      commands: presentCommands(context, now) ?? [],
    });
    return { ...before, features: before.features.map((feature) => (feature.id === id ? after : feature)) };
  });
  return { features: [after] };
}
