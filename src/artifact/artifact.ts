import { basename, join, relative, resolve } from 'node:path';
import murmur from 'murmurhash3js-revisited';
import * as z from 'zod/mini';
import { usage } from '../core/error.js';
import { readTarget } from '../core/files.js';
import { artifactsFolder, shown } from '../core/paths.js';
import { checkInput, encodeDocument, type Format } from '../core/schema.js';
import { compareText, oneLine, sha256 } from '../core/text.js';
import { type Context, madeBy, timestamp } from '../project/project.js';
import { sessionName } from '../session/rules.js';
import { sessionHere, showFocus } from '../session/running.js';

/** RFC-9060 §3.3 */
const ARTIFACT_TYPES = ['code', 'docs', 'reports'] as const;
const MAX_BYTES = 20 * 1024 * 1024;
/** Hex digits of the content's hash in a file name. */
const ID_LENGTH = 12;

const Artifact = z.looseObject({
  schema_version: z.optional(z.string()),
  id: z.string(),
  /** From the project's top folder. */
  path: z.string(),
  type: z.enum(ARTIFACT_TYPES),
  name: z.string(),
  triv: z.string(),
  sha256: z.string(),
  bytes: z.number(),
  at: z.string(),
  session: z.nullable(z.string()),
  skill: z.nullable(z.string()),
  issue: z.nullable(z.string()),
});
/** An index line: what produced an output, and how to recognize it. */
export type Artifact = z.infer<typeof Artifact>;

const ARTIFACT: Format<Artifact> = { name: 'artifact', version: '1.0', schema: Artifact };

const ArtifactInput = z.strictObject({
  file: z.string(),
  type: z.enum(ARTIFACT_TYPES),
  name: z.optional(z.string()),
  cwd: z.optional(z.string()),
});

/**
 * ART-02: `triv:a_b_c`, three MurmurHash3 x64-128 values (seed 0) of the content; of path and type; of session, issue and
 * skill. It identifies. SHA-256 proves integrity.
 */
export function trivariate(
  content: Uint8Array,
  place: { path: string; type: string },
  origin: { session: string | null; issue: string | null; skill: string | null },
): string {
  const join = (...parts: (string | null)[]): Buffer =>
    Buffer.from(parts.map((part) => part ?? '').join('\0'));
  const parts = [content, join(place.path, place.type), join(origin.session, origin.issue, origin.skill)];
  return `triv:${parts.map((bytes) => murmur.x64.hash128(bytes, 0)).join('_')}`;
}

const indexFolder = (context: Context): string => join(artifactsFolder(context.layout), 'index.d');

/**
 * ART-01: keeps a copy of a produced file, with the session, skill and issue that it came from. Adding it again restores a
 * copy that is missing or damaged.
 */
export async function addArtifact(context: Context, raw: z.infer<typeof ArtifactInput>): Promise<Artifact> {
  const { file, type, name: given, cwd = context.layout.root } = checkInput(ArtifactInput, raw);
  const source = resolve(cwd, file);
  const bytes = readTarget(source, MAX_BYTES);
  if (bytes === null) throw usage('artifact.missing', `There is no file ${oneLine(file, 200)}.`);
  const name = checkName(given ?? basename(source));
  const session = sessionHere(context);
  const { skill = null, linear_issue: issue } = showFocus(context);
  const origin = { session: session && sessionName(session), skill, issue };
  const place = { path: relative(context.layout.root, source).replaceAll('\\', '/'), type };
  const triv = trivariate(bytes, place, origin);
  const hash = triv.slice('triv:'.length, 'triv:'.length + ID_LENGTH);
  const path = join(artifactsFolder(context.layout), type, `triv_${hash}_${name}`);
  const artifact: Artifact = {
    schema_version: ARTIFACT.version,
    ...{ id: `${hash}-${name}`, path: shown(context.layout, path), type, name, triv },
    ...{ sha256: sha256(bytes), bytes: bytes.length, at: timestamp(context) },
    ...origin,
    ...madeBy(context),
  };
  const index = join(indexFolder(context), `${type}-${artifact.id}.json`);
  return context.disk.withLock(() => {
    const present = context.disk.readDocument(ARTIFACT, index, null).value;
    if (present && problemOf(context, present) === null) return present;
    for (const folder of [join(path, '..'), indexFolder(context)]) context.disk.makeFolder(folder);
    context.disk.replaceAll([
      { path, bytes },
      ...(present ? [] : [{ path: index, bytes: encodeDocument(artifact) }]),
    ]);
    return present ?? artifact;
  });
}

function checkName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name) && !name.includes('..')) return name;
  throw usage('artifact.name', `${JSON.stringify(oneLine(name, 80))} cannot be an artifact's name.`, {
    hint: 'Give it a name of letters, digits, dots and hyphens: --name report.json',
  });
}

export async function listArtifacts(context: Context) {
  return { artifacts: readIndex(context), warnings: context.warnings };
}

/** Newest first. */
export function readIndex(context: Context): Artifact[] {
  const folder = indexFolder(context);
  return context.disk
    .list(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => context.disk.requireDocument(ARTIFACT, join(folder, name)).value)
    .sort((a, b) => compareText(b.at, a.at) || compareText(a.id, b.id));
}

/** By id, the start of it, or its name when only one has it. */
export async function showArtifact(context: Context, { id }: { id: string }) {
  const all = readIndex(context);
  const found = all.filter((artifact) => artifact.id.startsWith(id) || artifact.name === id);
  const [artifact] = found;
  if (artifact && found.length === 1) return { ...artifact, intact: problemOf(context, artifact) === null };
  const what = found.length > 1 ? `means ${found.length} artifacts` : 'is not an artifact';
  throw usage('artifact.unknown', `${JSON.stringify(oneLine(id, 80))} ${what}.`, {
    hint: 'forge artifact list',
  });
}

export interface ArtifactProblem {
  path: string;
  problem: string;
}

/** Compares every file with its index line. */
export async function verifyArtifacts(context: Context) {
  const all = readIndex(context);
  const problems = all.flatMap((artifact) => {
    const problem = problemOf(context, artifact);
    return problem === null ? [] : [{ path: artifact.path, problem }];
  });
  return { verified: all.length - problems.length, problems };
}

function problemOf(context: Context, { path, sha256: digest }: Artifact): string | null {
  const bytes = context.disk.read(resolve(context.layout.root, path), MAX_BYTES);
  if (bytes === null) return 'the file is missing';
  return sha256(bytes) === digest ? null : 'its content is not what was added';
}
