import { createHash } from 'node:crypto';
import { configFile, initScript, shown } from '../core/paths.js';
import { oneLine } from '../core/text.js';
import { listFeatures } from '../feature/feature.js';
import type { Feature } from '../feature/rules.js';
import { readRecords } from '../ledger/memory.js';
import { type Context, contextAt } from '../project/project.js';
import { showTrust } from '../trust/trust.js';
import { readTestFiles, type TestFiles } from './test-files.js';
import type { Guarded } from './verdict.js';

/** What a cycle compares: as it stood before the command, and as it stands after it. */
export interface CycleFacts extends Guarded {
  features: Feature[];
  /** What the tests consist of. */
  testFiles: TestFiles;
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
    testFiles: readTestFiles(layout.root, features),
    files: {
      [shown(layout, configFile(layout))]: config && digest(config),
      [init]: null,
      ...Object.fromEntries(scripts),
    },
    tests: new Map(features.map(({ id, tests }) => [id, JSON.stringify(tests ?? [])])),
    breaches: readBreaches(context),
  };
}

function readBreaches(context: Context): Map<string, string> {
  const records = readRecords(context, 'audit').filter(({ record }) => record.kind === 'breach');
  return new Map(
    records.map(({ id, record }) => [
      id,
      oneLine(String(record.reason || 'a governance rule was broken'), 500),
    ]),
  );
}

/** The same project, as after somebody else worked in it: nothing that was looked at before counts as seen. */
export function lookAgain(context: Context): Context {
  const { layout, repository, world, disk, warnings } = context;
  const fresh = contextAt(layout.root, repository, world, disk.dryRun);
  fresh.warnings = warnings;
  fresh.disk.guard = disk.guard;
  return fresh;
}
