import { refused } from '../../domain/error.js';
import {
  FEATURES,
  type Feature,
  type Features,
  overridden,
  testsDiffer,
} from '../../domain/feature/feature.js';
import { requireRecord } from '../../domain/id.js';
import { featuresFile } from '../../store/layout.js';
import { type Context, timestamp } from '../context.js';
import { requireMemory } from '../memory/integrity.js';
import { storeAudit } from '../memory/ledger.js';
import { requireDecision } from '../supervisor/human.js';
import { type FeatureList, presentCommands } from './feature.js';

/** FEA-03: a human's word makes a feature passing without a test run; the audit ledger keeps who and why. */
export async function overrideFeature(
  context: Context,
  { id, reason }: { id: string; reason: string },
): Promise<FeatureList> {
  const decision = requireDecision(context, 'Marking a feature as passing without its tests', reason);
  const file = featuresFile(context.layout);
  const seen = requireRecord(context.disk.requireDocument(FEATURES, file).value.features, id, 'feature');
  const { around } = await requireMemory(context);
  let after: Feature = seen;
  context.disk.update<Features>(FEATURES, file, (before) => {
    const now = requireRecord(before.features, id, 'feature');
    if (testsDiffer(now, seen))
      throw refused('feature.changed', `The tests of ${id} were edited meanwhile; nothing was recorded.`, {
        hint: `forge feature show ${id}`,
      });
    // The audit record first: a crash in between leaves a word without effect, never an effect without the word.
    const audit = storeAudit(context, around, {
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
