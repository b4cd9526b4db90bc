/** What needs no open `.forge/`, or makes one. */

import type { Scan } from '../guard/scan-tree.js';
import { type Context, openContext } from '../project/project.js';
import { type ForgeOptions, worldOf } from './forge.js';
import { type Routines, routines } from './routines.js';

/** Creates or repairs `.forge/` in the project that `dir` is in (LAY-01, LAY-02). */
export async function initForge(
  dir: string,
  input: import('../init/init.js').InitInput = {},
  options: ForgeOptions = {},
) {
  const { initialise } = await routines.init();
  return await initialise(dir, worldOf(options), input, options.dryRun ?? false);
}

/** Forge in a person's own files of coding agents (AGT-01): needs no `.forge/`. */
export async function homeWiring(options: ForgeOptions & { warn?: (text: string) => void } = {}) {
  const world = worldOf(options);
  return (await routines.wiring()).homeWiring(world, options.dryRun ?? false, options.warn ?? (() => {}));
}

/** What `forge init` would ask about: where it would work, and what it sees there. */
export async function inspectProject(dir: string, options: Pick<ForgeOptions, 'world'> = {}) {
  const world = worldOf(options);
  return await (await routines.init()).inspectProject(dir, world);
}

/** What is wrong with the set-up, and what to type; works without a `.forge/`, and while memory is halted. */
export async function findSymptoms(
  dir: string,
  input: import('../doctor/doctor.js').DoctorInput = {},
  options: Pick<ForgeOptions, 'world'> = {},
) {
  const world = worldOf(options);
  return await (await routines.doctor()).findSymptoms(dir, world, input);
}

/**
 * Ids and names that exist in the `.forge/` at or above `dir`, for completion; none where there is no forge, and what can
 * be made out of a damaged one. `before` are the arguments in front. Writes nothing and starts no program.
 */
export async function liveValues(
  dir: string,
  kind: import('./live-values.js').LiveKind,
  before: readonly string[] = [],
  options: Pick<ForgeOptions, 'world'> = {},
) {
  const world = worldOf(options);
  let context: Context | null = null;
  try {
    context = openContext(dir, world, true);
  } catch {
    // Some values are the same everywhere.
  }
  return await (await routines.values()).liveValues(context, kind, before);
}

/** What could be put right without a human's judgement, and how (LAY-09). Changes nothing. */
export async function planFixes(
  dir: string,
  input: import('../doctor/doctor.js').DoctorInput = {},
  options: Pick<ForgeOptions, 'world'> = {},
) {
  return (await routines.doctorFix()).planFixes(dir, worldOf(options), input);
}

/** Puts it right, as far as it was agreed to, and says what is wrong still. A fix that fails keeps no other from being made. */
export async function applyFixes(
  dir: string,
  input: import('../doctor/fix.js').FixInput = {},
  options: Pick<ForgeOptions, 'world' | 'dryRun'> = {},
) {
  const world = worldOf(options);
  return (await routines.doctorFix()).applyFixes(dir, world, input, options.dryRun ?? false);
}

/** The guard where there is no `.forge/`, and for what is shown. Nothing here says what was found, only where. */
export const textGuard = {
  inspect: async (...args: Parameters<Routines['guard']['inspectInput']>) =>
    (await routines.guard()).inspectInput(...args),
  mask: async (text: string) => (await routines.guard()).maskText(text),
  redact: async (text: string) => (await routines.guard()).redactText(text),
};

/** What git's `commit-msg`, `prepare-commit-msg` and `pre-push` hooks ask; they need no open forge, and change nothing of memory. */
export const hookedMessage = async (
  ...args: Parameters<Awaited<ReturnType<typeof routines.commitHook>>['checkHookedMessage']>
) => (await routines.commitHook()).checkHookedMessage(...args);
export const preparedMessage = async (
  ...args: Parameters<Awaited<ReturnType<typeof routines.commitPrepare>>['prepareMessage']>
) => (await routines.commitPrepare()).prepareMessage(...args);
export const hookedPush = async (
  ...args: Parameters<Awaited<ReturnType<typeof routines.pushHook>>['checkHookedPush']>
) => (await routines.pushHook()).checkHookedPush(...args);

/** Every setting with the value that it has where `config.toml` says nothing. */
export async function defaultSettings() {
  return (await routines.config()).defaultSettings();
}

/** GIT-07: a pipeline to begin with, for a system. */
export async function ciTemplate(...args: Parameters<Routines['ci']['ciTemplate']>): Promise<string> {
  return (await routines.ci()).ciTemplate(...args);
}

/** Looks for secrets and personal data in files, in what is staged or in commits; needs no `.forge/`. */
export async function scanTree(
  ...args: Parameters<Awaited<ReturnType<typeof routines.scan>>['scanTree']>
): Promise<Scan> {
  return (await routines.scan()).scanTree(...args);
}

/** GIT-01: checks a message, or the commits of a range; needs no `.forge/`. */
export async function checkCommits(...args: Parameters<Routines['commitCheck']['checkCommits']>) {
  return (await routines.commitCheck()).checkCommits(...args);
}

/** What the tools of the MCP server take. */
export async function toolInputs() {
  const { checkToolInput, toolSchemas } = await import('./tool-input.js');
  return { schemas: toolSchemas(), check: checkToolInput };
}

/** The formats that have a JSON Schema, and one of them. */
export async function schemaNames(): Promise<string[]> {
  return (await routines.schema()).schemaNames();
}
export async function schemaOf(name: string): Promise<Record<string, unknown>> {
  return (await routines.schema()).schemaOf(name);
}
