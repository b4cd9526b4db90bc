import { basename, sep } from 'node:path';
import * as z from 'zod/mini';
import type { Disk } from '../core/disk.js';
import { type EntryList, encodeFields, readEntries, takeInById, updateEntries } from '../core/entries.js';
import { corrupted, ForgeError } from '../core/error.js';
import { doneIssueFile, doneIssuesFolder, featuresFile, featuresFolder, shownFrom } from '../core/paths.js';
import type { Format } from '../core/schema.js';
import { compareIds, compareText } from '../core/text.js';
import { filesWith } from '../git/read.js';
import type { Context } from '../project/project.js';
import { asInProgress, Feature, isSame, settleEdit, testsDiffer, withoutEvidence } from './rules.js';
import { ISSUE_LIST, type Unit } from './tasks.js';

/** The first id that occurs again, ignoring case. A merge or an edit can cause that. */
function findDuplicate(features: readonly { id: string }[]): string | undefined {
  const seen = new Set<string>();
  return features.find(({ id }) => seen.size === seen.add(id.toLowerCase()).size)?.id;
}

const Features = z.looseObject({
  schema_version: z.string(),
  features: z.array(Feature).check((list) => {
    const id = findDuplicate(list.value);
    const message = `the id ${id} is used twice (ignoring case)`;
    if (id !== undefined) list.issues.push({ code: 'custom', message, input: list.value, path: [] });
  }),
});
export type Features = z.infer<typeof Features>;

/** `long-term/features.json`, a view in the shape of RFC-9060 §3.1. */
export const FEATURES: Format<Features> = { name: 'features', version: '1.0', schema: Features };

/** `long-term/features.d/<id>.json`. Every known field is present (null when absent), so that git merges by field. */
export const FEATURE: Format<Feature> = {
  name: 'feature',
  version: '1.0',
  schema: Feature,
  prepare: ({ schema_version: _, ...fields }) => withoutNulls(fields),
};

const FIELDS: readonly string[] = Object.keys(Feature.shape);

const withoutNulls = <T extends object>(fields: T): T =>
  Object.fromEntries(
    Object.entries(fields).filter(([field, value]) => value !== null || !FIELDS.includes(field)),
  ) as T;

/** Known fields first, in their order. RFC-9060 §3.1 shows `blocked_by` always. */
const inOrder = (feature: Feature): Feature => {
  const shown: Feature = { ...feature, blocked_by: feature.blocked_by ?? null };
  const known = FIELDS.filter((field) => shown[field] !== undefined);
  return { ...Object.fromEntries(known.map((field) => [field, shown[field]])), ...shown } as Feature;
};

function encodeFeature(feature: Feature): Buffer {
  const known = Object.fromEntries(FIELDS.map((field) => [field, feature[field] ?? null]));
  return encodeFields(feature.id, { schema_version: FEATURE.version, ...known, ...feature });
}

function arrange(features: Feature[]): Feature[] {
  const twice = findDuplicate(features);
  if (twice !== undefined)
    throw corrupted('feature.twice', `Two features have the id ${twice} (ignoring case).`, {
      hint: `git rm .forge/memory/long-term/features.d/${twice}.json   # or give it another id`,
    });
  const age = ({ created_at }: Feature): string => created_at ?? '~';
  return [...features].sort((a, b) => compareText(age(a), age(b)) || compareIds(a.id, b.id));
}

/** The rest is evidence, which only forge writes. */
const isEditable = (field: string): boolean =>
  !['id', 'created_at', 'unproven', 'override'].includes(field) && !field.startsWith('verified_');

function applyEdit(feature: Feature, old: Feature, wanted: Feature, changes: string[]): Feature {
  const differs = (a: Feature, field: string): boolean => !isSame(a[field] ?? null, wanted[field] ?? null);
  const edited = Object.keys({ ...old, ...wanted }).filter(
    (field) => isEditable(field) && differs(old, field),
  );
  // Only a test run makes a feature pass.
  const taken = edited.filter((field) => field !== 'status' || wanted.status !== 'passing');
  if (edited.length > taken.length)
    changes.push(`${feature.id} stays ${feature.status} until forge done ${feature.id}`);
  if (!taken.some((field) => differs(feature, field))) return feature;
  changes.push(`${feature.id} (${taken.join(', ')})`);
  const given = Object.fromEntries(taken.map((field) => [field, wanted[field]]));
  return settleEdit(feature, withoutNulls({ ...feature, ...given }));
}

export const FEATURE_LIST: EntryList<Feature, Features> = {
  folder: featuresFolder,
  entry: FEATURE,
  nameOf: ({ id }) => id,
  arrange,
  encode: encodeFeature,
  view: FEATURES,
  viewFile: featuresFile,
  toView: (features, current) => ({
    ...(current ?? { schema_version: FEATURES.version }),
    features: features.map(inOrder),
  }),
  takeIn: (features, base, edited) =>
    takeInById(({ id }) => id, [features, base?.features, edited.features], {
      edit: applyEdit,
      remove: ({ id }) => `forge feature remove ${id}`,
      add: (feature) => {
        const added = withoutNulls(feature);
        return added.status === 'passing' ? asInProgress(added) : withoutEvidence(added);
      },
    }),
};

/** The stored features, with what a person has edited in features.json since. */
export const readFeatures = ({ disk }: Pick<Context, 'disk'>): Feature[] =>
  readEntries(disk, FEATURE_LIST).entries;

/** The active issues. */
export const readActive = ({ disk }: Pick<Context, 'disk'>): Unit[] =>
  withoutDone(disk, readEntries(disk, ISSUE_LIST).entries);

/** `change` returns the same objects for issues that stay unchanged. */
export const changeActive = (context: Context, change: (issues: Unit[]) => Unit[]): void =>
  void updateEntries(context, ISSUE_LIST, (units) => change(withoutDone(context.disk, units)));

/** Whether the history has the end of this issue. A merge may bring back the file of a done one. */
function isDoneIssue(disk: Disk, { linear_id, created_at }: Unit): boolean {
  const done = disk.read(doneIssueFile(disk.layout, linear_id));
  return done?.includes(`"created_at": ${JSON.stringify(created_at)}`) ?? false;
}

function withoutDone(disk: Disk, units: Unit[]): Unit[] {
  const done = new Set(disk.list(doneIssuesFolder(disk.layout)));
  return units.filter((unit) => !done.has(`${unit.linear_id}.json`) || !isDoneIssue(disk, unit));
}

/** The file of each feature, by path. */
export const readFeatureFiles = ({ disk }: Pick<Context, 'disk'>) => readEntries(disk, FEATURE_LIST).stored;

/**
 * Puts back features that are gone or have other tests than `before`, and all if the list cannot be read. Returns what had
 * happened: `B was removed`. The caller holds the lock.
 */
export function restoreFeatures(
  { disk, layout }: Pick<Context, 'disk' | 'layout'>,
  before: { features: readonly Feature[]; stored: ReadonlyMap<string, { bytes: Buffer; entry: Feature }> },
): string[] {
  /** Why the list cannot be read; null if it can. */
  const damageNow = (): string | null => {
    try {
      for (const feature of readFeatures({ disk })) known.set(feature.id, feature);
      return null;
    } catch (error) {
      if (error instanceof ForgeError) return error.message;
      throw error;
    }
  };
  const known = new Map<string, Feature>();
  const damage = damageNow();
  const isLost = (old: Feature): boolean => testsDiffer(old, known.get(old.id) ?? { ...old, tests: [''] });
  const lost = before.features.filter(isLost).map(({ id }) => id);
  if (lost.length === 0 && damage === null) return [];
  const found = lost.map((id) => (known.has(id) ? `the tests of ${id} were changed` : `${id} was removed`));
  // An edited view would bring the change again. The next command makes it anew.
  disk.remove(featuresFile(layout));
  for (const [path, { bytes, entry }] of before.stored) if (isLost(entry)) disk.replaceMoved(path, bytes);
  const added = disk.list(featuresFolder(layout)).map((name) => featuresFolder(layout) + sep + name);
  if (damageNow() !== null) for (const path of added) if (!before.stored.has(path)) disk.remove(path);
  return damage === null ? found : [`the list of features (${damage}) was damaged`];
}

/** Reads, decides and writes under the lock. `change` returns the same objects for features that stay unchanged. */
export const updateFeatures = (context: Context, change?: (features: Feature[]) => Feature[]): Feature[] =>
  updateEntries(context, FEATURE_LIST, change);

/** Features that pass now and did not in a commit. */
export async function newlyPassing(
  context: Context,
  features: readonly Feature[],
  commit = 'HEAD',
): Promise<Feature[]> {
  const passing = features.filter(({ status }) => status === 'passing');
  const before = passing.length === 0 ? new Set() : await passingAt(context, commit);
  return passing.filter(({ id }) => !before.has(id));
}

/** Ids of the features that pass in a commit. */
export async function passingAt({ git, repository, layout }: Context, commit: string): Promise<Set<string>> {
  if (!git || !repository) return new Set();
  const folder = shownFrom(repository.root, featuresFolder(layout));
  const paths = await filesWith(git, commit, folder, '"status": "passing"');
  return new Set(paths.map((path) => basename(path, '.json')));
}
