import { createHash } from 'node:crypto';
import { configFile, initScript, shown } from '../core/paths.js';
import { oneLine } from '../core/text.js';
import type { FeatureDecision } from '../feature/claim.js';
import { listFeatures } from '../feature/feature.js';
import type { Feature } from '../feature/rules.js';
import { readRecords } from '../ledger/read.js';
import type { LedgerRecord } from '../ledger/rules/record.js';
import { type Context, contextAt } from '../project/project.js';
import { showTrust } from '../trust/trust.js';
import type { Guarded } from './verdict.js';

/** What a cycle compares: as it stood before the command, and as it stands after it. */
export interface CycleFacts extends Guarded {
  features: Feature[];
  decisions: Map<string, FeatureDecision>;
}

const digest = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');

export function takeFacts(context: Context): CycleFacts {
  const { disk, layout } = context;
  const { features } = listFeatures(context);
  const { items } = showTrust(context);
  const config = disk.read(configFile(layout));
  const init = shown(layout, initScript(layout));
  const scripts = items
    .filter(({ kind }) => kind === 'file')
    .map(({ name, content }) => [name, digest(content)]);
  return {
    features,
    files: {
      [shown(layout, configFile(layout))]: config && digest(config),
      [init]: null,
      ...Object.fromEntries(scripts),
    },
    tests: new Map(features.map(({ id, tests }) => [id, JSON.stringify(tests ?? [])])),
    ...readAudit(context, features),
  };
}

function readAudit(
  context: Context,
  features: readonly Feature[],
): Pick<CycleFacts, 'breaches' | 'decisions'> {
  const wanted = ({ kind }: LedgerRecord): boolean => kind === 'breach' || kind === 'feature_override';
  const records = readRecords(context, 'audit', { archived: false, wanted });
  const [breaches, decisions] = [new Map<string, string>(), new Map<string, FeatureDecision>()];
  for (const { id, record } of records)
    if (record.kind === 'breach')
      breaches.set(id, oneLine(String(record.reason || 'a governance rule was broken'), 500));
    else decisions.set(id, toDecision(record, true));
  for (const [id, decision] of readArchived(context, features, decisions)) decisions.set(id, decision);
  return { breaches, decisions };
}

const toDecision = ({ feature, tests }: LedgerRecord, live: boolean): FeatureDecision => ({
  feature: String(feature),
  tests: JSON.stringify(tests ?? []),
  live,
});

/** Archives are large, so they are read only for what a feature names and no live record is. */
function readArchived(
  context: Context,
  features: readonly Feature[],
  live: ReadonlyMap<string, FeatureDecision>,
): [string, FeatureDecision][] {
  const named = new Set(
    features.flatMap(({ override = '' }) => (override && !live.has(override) ? override : [])),
  );
  if (named.size === 0) return [];
  const wanted = ({ kind }: LedgerRecord, id: string): boolean =>
    kind === 'feature_override' && named.has(id);
  return readRecords(context, 'audit', { wanted }).map(({ id, record }) => [id, toDecision(record, false)]);
}

/** The same project, as after somebody else worked in it: nothing that was looked at before counts as seen. */
export function lookAgain(context: Context): Context {
  const { layout, repository, world, disk, warnings } = context;
  const fresh = contextAt(layout.root, repository, world, disk.dryRun);
  fresh.warnings = warnings;
  fresh.disk.guard = disk.guard;
  return fresh;
}
