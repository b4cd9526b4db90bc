import { readEntries, updateEntries } from '../core/entries.js';
import { usage } from '../core/error.js';
import { namesLike } from '../core/nearest.js';
import { findTwin } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import type { Context } from '../project/project.js';
import { FEATURE_LIST, type Feature } from './rules.js';

/** The features as they are stored, and as a person edited features.json since. */
export const readFeatures = ({ disk }: Pick<Context, 'disk'>): Feature[] =>
  readEntries(disk, FEATURE_LIST).entries;

/** Read, decide, write, under the lock. `change` returns the same objects for features that stay as they are. */
export const updateFeatures = (context: Context, change?: (features: Feature[]) => Feature[]): Feature[] =>
  updateEntries(context, FEATURE_LIST, change);

/** The feature of that id, case aside; exit 2 without one. */
export function requireFeature(features: readonly Feature[], id: string): Feature {
  const found = findTwin(features, id);
  if (found) return found;
  const [near] = namesLike(
    id.toLowerCase(),
    features.map((feature) => feature.id.toLowerCase()),
  );
  const twin = near === undefined ? undefined : findTwin(features, near);
  throw usage('feature.unknown', `There is no feature ${JSON.stringify(oneLine(id, 80))}.`, {
    hint: twin ? `Did you mean ${twin.id}?` : 'forge ls',
  });
}
