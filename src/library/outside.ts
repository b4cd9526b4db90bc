/** The operations that need no open `.forge/`, or create one. */

import type { World } from '../core/world.js';
import { type ForgeOptions, worldOf } from './forge.js';

type InFolder<I, R> = (dir: string, world: World, input: I, dryRun: boolean) => Promise<R>;

/** An operation on a folder, loaded at the first call. */
const inFolder =
  <I, R>(load: () => Promise<InFolder<I, R>>) =>
  async (dir: string, input: I = {} as I, options: ForgeOptions = {}): Promise<R> =>
    (await load())(dir, worldOf(options), input, options.dryRun ?? false);

/** Creates or repairs the `.forge/` of the project around `dir` (LAY-01, LAY-02). */
export const initForge = inFolder(async () => (await import('../init/init.js')).initialise);

/** What is wrong with the setup, and what to type. Works without a `.forge/` and while memory is halted. Writes nothing. */
export const findSymptoms = inFolder(async () => (await import('../doctor/doctor.js')).findSymptoms);

/** Merges conflicts in state files (LAY-09), and returns what is still wrong. */
export const fixConflicts = inFolder(async () => (await import('../doctor/doctor.js')).fixConflicts);

/** forge in the user's own files of coding agents (AGT-01). */
export async function homeWiring(options: ForgeOptions = {}) {
  return (await import('../agent/install.js')).homeWiring(worldOf(options), options.dryRun ?? false);
}

/** What `forge init` would ask about. Reads only. */
export async function inspectProject(dir: string, options: Pick<ForgeOptions, 'world'> = {}) {
  return (await import('../init/init.js')).inspectProject(dir, worldOf(options));
}

/** Calls a function of a module that is loaded at the first call. */
const later =
  <M, N extends keyof M>(load: () => Promise<M>, name: N) =>
  async (
    ...args: M[N] extends (...args: infer A) => unknown ? A : never
  ): Promise<M[N] extends (...args: never[]) => infer R ? Awaited<R> : never> =>
    await ((await load())[name] as (...args: unknown[]) => never)(...args);

/** The guard, for input and output. Findings name places, never values. */
export const textGuard = {
  inspect: later(() => import('../guard/guard.js'), 'inspectInput'),
  mask: later(() => import('../guard/guard.js'), 'maskText'),
  redact: later(() => import('../guard/guard.js'), 'redactText'),
  clean: later(() => import('../guard/guard.js'), 'cleanText'),
  fields: later(() => import('../guard/document.js'), 'fieldsOf'),
};

/** Every setting with its default. */
export const defaultSettings = later(() => import('../config/config.js'), 'defaultSettings');

/** GIT-07: a pipeline file. */
export const ciTemplate = later(() => import('../ci/ci.js'), 'ciTemplate');

/** Scans files, staged changes or commits for secrets and personal data. */
export const scanTree = later(() => import('../guard/scan-tree.js'), 'scanTree');

/** GIT-01: checks a message, or the commits of a range. */
export const checkCommits = later(() => import('../commit/check.js'), 'checkCommits');

/** The published formats, and the JSON Schema of one. */
export const schemaNames = later(() => import('./schema.js'), 'schemaNames');
export const schemaOf = later(() => import('./schema.js'), 'schemaOf');

/** The inputs of the MCP tools. */
export async function toolInputs() {
  const { checkToolInput, toolSchemas } = await import('./tool-input.js');
  return { schemas: toolSchemas(), check: checkToolInput };
}
