import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readTarget } from '../core/files.js';
import { parseJson } from '../core/json.js';
import { configFile, initScript, shown } from '../core/paths.js';
import { oneLine } from '../core/text.js';
import { listFeatures } from '../feature/feature.js';
import type { Feature } from '../feature/rules.js';
import { readRecords } from '../ledger/memory.js';
import { type Context, contextAt } from '../project/project.js';
import { showTrust } from '../trust/trust.js';
import type { Guarded } from './rules.js';

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

/** Digests of what the tests consist of, as far as their commands tell: files they name, and the scripts of package.json. */
export type TestFiles = Readonly<Record<string, string>>;

const MAX_BYTES = 8 * 1024 * 1024;
const SCRIPTS = 'the scripts of package.json';

function readTestFiles(root: string, features: readonly Feature[]): TestFiles {
  const words = features.flatMap(({ tests = [] }) => tests.flatMap((test) => test.split(/[\s'"=;&|()]+/)));
  const files: Record<string, string> = {};
  for (const name of new Set(words.filter(isPath))) {
    const bytes = tryRead(join(root, name));
    if (bytes) files[name] = digest(bytes);
  }
  const manifest = tryRead(join(root, 'package.json'));
  return manifest ? { ...files, [SCRIPTS]: digest(scriptsIn(manifest)) } : files;
}

const isPath = (word: string): boolean =>
  word !== '' && !word.startsWith('-') && !word.startsWith('/') && !word.split('/').includes('..');

function tryRead(path: string): Buffer | null {
  try {
    return readTarget(path, MAX_BYTES);
  } catch {
    return null;
  }
}

function scriptsIn(manifest: Buffer): string {
  try {
    return JSON.stringify((parseJson(manifest.toString('utf8')) as { scripts?: unknown }).scripts ?? null);
  } catch {
    return '';
  }
}

const TEST_FILE =
  /(?:^|\/)(?:tests?|specs?|__tests__)\/|\.(?:test|spec)\.[^/]+$|_(?:test|spec)\.[^/]+$|(?:^|\/)test_[^/]+$/i;

/** GOV-05: what judges the work, and changed while the work was done. A file that is new and that a test names is the work. */
export function changedTests(before: TestFiles, after: TestFiles, changed: readonly string[]): string[] {
  const named = Object.keys(before).filter((name) => before[name] !== after[name]);
  return [...new Set([...named, ...changed.filter((path) => TEST_FILE.test(path))])].sort();
}
