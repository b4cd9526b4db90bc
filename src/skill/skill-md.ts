import { explainSyntax, usage } from '../core/error.js';
import { isObject } from '../core/text.js';
import { formatTomlValue } from '../core/toml.js';
import { FRONTMATTER, formatYaml, readYaml } from '../core/yaml.js';
import { type Manifest, requiredBy } from './rules.js';

/** The open SKILL.md format: YAML frontmatter, then instructions. */
interface SkillMd {
  frontmatter: Record<string, unknown>;
  body: string;
}

const MAX_FRONTMATTER = 16 * 1024;
/** Limits of the format, in characters. */
const MAX_DESCRIPTION = 1024;
const MAX_TRIGGERS = 20;
/** forge's own fields in the frontmatter's `metadata`, which maps texts to texts. */
export const OWN = {
  keywords: 'forge-keywords',
  files: 'forge-file-patterns',
  labels: 'forge-linear-labels',
  requires: 'forge-requires',
};

/** Exit 2 for a frontmatter that is missing, too long, or more than plain values. */
export function parseSkillMd(text: string, file: string): SkillMd {
  const hint = 'Change SKILL.md, and import it again.';
  const broken = (message: string): Error =>
    usage('skill.frontmatter', `${file}: ${message}.`, { file, hint });
  const [, yaml, body] = FRONTMATTER.exec(text) ?? [];
  if (yaml === undefined || body === undefined)
    throw broken('it does not begin with a frontmatter between two lines of ---');
  if (Buffer.byteLength(yaml) > MAX_FRONTMATTER)
    throw broken(`the frontmatter has more than ${MAX_FRONTMATTER} bytes`);
  const value = explainSyntax(readYaml, yaml, ({ message }) => broken(message));
  if (!isObject(value)) throw broken('the frontmatter is not a list of fields');
  for (const field of ['name', 'description'])
    if (typeof value[field] !== 'string' || value[field].trim() === '')
      throw broken(`the frontmatter needs ${field}, a text`);
  if (String(value['description']).length > MAX_DESCRIPTION)
    throw broken(`description has more than ${MAX_DESCRIPTION} characters`);
  return { frontmatter: value, body };
}

/**
 * Triggers of a skill from elsewhere. In the open format the description says when to use it: quoted words and file endings
 * are taken from there, besides the words of the name.
 */
function triggersOf(name: string, description: string): { keywords: string[]; patterns: string[] } {
  const found = (pattern: RegExp): string[] =>
    [...description.matchAll(pattern)].map(([, word = '']) => word);
  const quoted = found(/["“]([\p{L}\p{N}][^"“”]{1,40}?)[,.;]?["”]/gu);
  const endings = found(/(?<![\w/])\.([a-z][a-z0-9]{1,5})\b/g);
  const words = [...name.split('-').filter((word) => word.length > 2), ...endings, ...quoted];
  return {
    keywords: [...new Set(words.map((word) => word.toLowerCase()))].slice(0, MAX_TRIGGERS),
    patterns: [...new Set(endings)].map((ending) => `*.${ending}`).slice(0, MAX_TRIGGERS),
  };
}

/** skill.toml of an imported skill. Fields that forge has no use for are kept in `[skill_md]`. */
export function toManifestText({ frontmatter }: SkillMd, files: readonly string[]): string {
  const { name, description, metadata, ...rest } = frontmatter;
  const given = isObject(metadata) ? metadata : {};
  const list = (key: string): string[] =>
    String(given[key] ?? '')
      // Not within a pattern: *.{ts,tsx}
      .split(/\s*,\s*(?![^{]*\})/)
      .filter(Boolean);
  const own = ['version', ...Object.values(OWN)];
  const others = Object.fromEntries(Object.entries(given).filter(([key]) => !own.includes(key)));
  const kept = { ...rest, ...(Object.keys(others).length > 0 ? { metadata: others } : {}) };
  const { keywords, patterns } = Object.values(OWN).some((key) => key in given)
    ? { keywords: list(OWN.keywords), patterns: list(OWN.files) }
    : triggersOf(String(name), String(description));
  const folders = new Set(files.flatMap((file) => /^(.*?)\//.exec(file)?.[1] ?? []));
  // `instructions` is the key of instructions.md.
  folders.delete('instructions');
  return [
    'schema_version = 1',
    '',
    '[skill]',
    `name = ${formatTomlValue(String(name))}`,
    `description = ${formatTomlValue(String(description))}`,
    `version = ${formatTomlValue(String(given['version'] ?? '1.0.0'))}`,
    '',
    '[triggers]',
    `keywords = ${formatTomlValue(keywords)}`,
    `file_patterns = ${formatTomlValue(patterns)}`,
    `linear_labels = ${formatTomlValue(list(OWN.labels))}`,
    '',
    '[resources]',
    'instructions = "instructions.md"',
    ...[...folders].map((folder) => `${formatTomlValue(folder)} = ${formatTomlValue(`${folder}/`)}`),
    '',
    '[dependencies]',
    `requires = ${formatTomlValue(list(OWN.requires))}`,
    ...(Object.keys(kept).length === 0
      ? []
      : ['', '[skill_md]', `frontmatter = ${formatTomlValue(JSON.stringify(kept))}`]),
    '',
  ].join('\n');
}

export function toSkillMd(manifest: Manifest, instructions: string): string {
  const { name, description, version } = manifest.skill;
  const { keywords = [], file_patterns = [], linear_labels = [] } = manifest.triggers ?? {};
  const { metadata = {}, ...kept } = keptFrontmatter(manifest);
  const own = {
    ...(version === undefined ? {} : { version }),
    [OWN.keywords]: keywords.join(', '),
    [OWN.files]: file_patterns.join(', '),
    [OWN.labels]: linear_labels.join(', '),
    [OWN.requires]: requiredBy(manifest).join(', '),
  };
  const filled = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== ''));
  const frontmatter = { name, description, ...kept, metadata: { ...metadata, ...filled } };
  return `---\n${formatYaml(frontmatter)}---\n${instructions}`;
}

function keptFrontmatter({ skill_md }: Manifest): {
  metadata?: Record<string, unknown>;
  [field: string]: unknown;
} {
  try {
    return JSON.parse(String(skill_md?.['frontmatter'] ?? '{}'));
  } catch {
    return {};
  }
}
