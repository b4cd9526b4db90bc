import * as z from 'zod/mini';
import type { Format } from '../core/schema.js';
import { AGENT_NAMES, type AgentName } from './event.js';

const Digest = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const Count = z.int().check(z.gte(0));

/**
 * A file as forge left it, and what was put in: places and lengths alone, so that nothing of a person's settings
 * stands anywhere else. Null where something was taken out or replaced, which forge does only with its own.
 */
const Left = z.looseObject({
  sha256: Digest,
  insertions: z.nullable(z.array(z.looseObject({ offset: Count, length: Count }))),
});
export type Left = z.infer<typeof Left>;

const FileRecord = z.looseObject({
  /** As it was before forge came. `unknown`: forge was in it already. */
  before: z.union([z.enum(['none', 'unknown']), Digest]),
  /** Folders that were made for it, the innermost last. */
  folders: z.array(z.string()),
  /** One; two while a change is under way: as it was left last, and as it is to be left. */
  left: z.array(Left).check(z.maxLength(2)),
});
export type FileRecord = z.infer<typeof FileRecord>;

const Wired = z.looseObject({
  agent: z.enum(AGENT_NAMES),
  command: z.string(),
  instructions: z.boolean(),
  files: z.array(z.string()),
});
export type Wired = z.infer<typeof Wired>;

/** What `forge agent install` wrote, so that uninstall can put back the very bytes. */
export const Manifest = z.looseObject({
  schema_version: z.string(),
  /** In the order of their installing. */
  agents: z.array(Wired),
  /** By path, from the project's top folder or from home. */
  files: z.record(z.string(), FileRecord),
});
export type Manifest = z.infer<typeof Manifest>;

export const MANIFEST: Format<Manifest> = { name: 'wiring', version: '1.0', schema: Manifest };
export const NO_MANIFEST: Manifest = { schema_version: '1.0', agents: [], files: {} };

export const wiredAs = (manifest: Manifest, agent: AgentName): Wired | undefined =>
  manifest.agents.find((wired) => wired.agent === agent);
