import picomatch from 'picomatch';
import * as z from 'zod/mini';
import { explainSyntax, usage } from '../core/error.js';
import { patternProblem } from '../core/pattern.js';
import { describeIssue, fieldName } from '../core/schema.js';
import { compareText, countTokens, escapeControls, oneLine } from '../core/text.js';
import { lineOfKey, readToml } from '../core/toml.js';
import { termsOf } from '../recall/terms.js';

const text = z.optional(z.string());
const words = z.optional(z.array(z.string()));

/**
 * RFC-9060 §4.3, plus `[git]` (SKL-01) and what only the open SKILL.md format has (SKL-05). Other fields are dropped:
 * to check many skills, keeping them takes a quarter longer.
 */
export const Manifest = z.object({
  skill: z.object({ name: z.string(), description: z.string(), version: text }),
  triggers: z.optional(z.object({ keywords: words, file_patterns: words, linear_labels: words })),
  /** `instructions` is a file. Every other entry is a file or a folder, in the skill's own folder. */
  // z.record takes longer.
  resources: z.optional(z.catchall(z.object({}), z.string())),
  git: z.optional(z.object({ commit_pattern: text, commit_template: text, pr_template: text })),
  dependencies: z.optional(z.object({ requires: words })),
  skill_md: z.optional(z.record(z.string(), z.unknown())),
});
export type Manifest = z.infer<typeof Manifest>;

export const MANIFEST_FILE = 'skill.toml';
const INSTRUCTIONS_FILE = 'instructions.md';
/** RFC-9060 §4.1, in tokens. */
const MAX_METADATA = 100;
const MAX_INSTRUCTIONS = 5000;
export const MAX_FILES = 200;
/** Bytes of a text that forge reads, and of all files of a skill. Skills bring fonts and schemas. */
export const MAX_BYTES = 1024 * 1024;
export const MAX_SKILL_BYTES = 10 * MAX_BYTES;

/** Names in both formats: the folder has the name. */
export const isSkillName = (name: string): boolean =>
  name.length <= 64 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name);

/** Throws exit 2 with the line and the key. */
export function parseManifest(text: string, file: string): Manifest {
  const broken = (line: number, message: string): Error =>
    usage('skill.manifest', `${file}:${line}: ${message}.`, { file, line, hint: 'forge skill check' });
  const raw = explainSyntax(readToml, text, ({ line = 1, message }) => broken(line, message));
  const result = Manifest.safeParse(raw);
  if (result.success) return result.data;
  const issue = result.error.issues[0] as z.core.$ZodIssue;
  const line = lineOfKey(text, issue.path.slice(0, 2).map(String));
  throw broken(line, `${fieldName(issue.path)}: ${describeIssue(issue, raw)}`);
}

/** A skill with the names of all its files. */
export interface Skill {
  name: string;
  manifest: Manifest;
  files: readonly string[];
  /** Its files are as a person approved them here, or as forge ships them. */
  isApproved: boolean;
}

export const instructionsOf = ({ resources }: Manifest): string =>
  resources?.['instructions'] ?? INSTRUCTIONS_FILE;

export const requiredBy = ({ dependencies }: Manifest): readonly string[] => dependencies?.requires ?? [];

/** The entries of `[resources]` and the templates of `[git]`. */
function namedFiles({ resources = {}, git = {} }: Manifest): [key: string, file: string][] {
  const named: [key: string, file: string | undefined][] = [
    ...Object.entries(resources).map(([key, file]): [string, string] => [`resources.${key}`, file]),
    ['git.commit_template', git.commit_template],
    ['git.pr_template', git.pr_template],
  ];
  return named.filter((entry): entry is [string, string] => entry[1] !== undefined);
}

export const isInsideSkill = (path: string): boolean =>
  path !== '' && !/^[/\\~]|^[A-Za-z]:|\\|\0/.test(path) && !path.split('/').includes('..');

export interface SkillProblem {
  skill: string;
  problem: string;
}

/** Everything that is wrong with one skill (SKL-02, SKL-03). `instructions` is null when there is no such file. */
export function checkSkill(skill: Skill, instructions: string | null, folder: string): string[] {
  const { manifest, files } = skill;
  const { name, description } = manifest.skill;
  const { keywords = [], file_patterns = [], linear_labels = [] } = manifest.triggers ?? {};
  const badPattern = patternProblem(manifest.git?.commit_pattern ?? '');
  const [metadata, length] = [describe(manifest), instructions ?? ''].map(countTokens) as [number, number];
  const texts = [name, description, ...keywords, ...linear_labels, instructions ?? ''];
  const quoted = (text: string): string => JSON.stringify(oneLine(text, 80));
  const wrong: (string | false | null)[] = [
    name !== folder && `skill.name is ${JSON.stringify(name)}, but its folder is ${folder}`,
    !isSkillName(name) &&
      `skill.name ${quoted(name)}: allowed are lower-case letters, digits and single hyphens`,
    description.trim() === '' && 'skill.description is empty',
    metadata > MAX_METADATA &&
      `name and description have ${metadata} tokens, at most ${MAX_METADATA} are allowed`,
    instructions === null && `${instructionsOf(manifest)} is missing`,
    length > MAX_INSTRUCTIONS &&
      `the instructions have ${length} tokens, at most ${MAX_INSTRUCTIONS} are allowed: move details into resources`,
    texts.some((text) => escapeControls(text) !== text) && 'it has control or invisible characters',
    ...namedFiles(manifest).map(([key, file]) => {
      if (!isInsideSkill(file)) return `${key} leads out of the skill: ${quoted(file)}`;
      const path = file.replace(/\/+$/, '');
      const isThere = files.some((each) => each === path || each.startsWith(`${path}/`));
      return !isThere && key !== 'resources.instructions' && `${key} is missing: ${oneLine(file, 80)}`;
    }),
    ...file_patterns.map(
      (pattern) =>
        !isSafeGlob(pattern) &&
        `file pattern ${quoted(pattern)}: at most 200 characters and 4 stars in a row of a path are allowed`,
    ),
    badPattern && `git.commit_pattern: ${badPattern}`,
    files.length > MAX_FILES && `it has ${files.length} files, at most ${MAX_FILES} are allowed`,
  ];
  return wrong.filter((text) => typeof text === 'string');
}

/** Layer 1 of progressive disclosure: about 100 tokens. */
export const describe = ({ skill }: Manifest): string => `${skill.name}: ${oneLine(skill.description, 1024)}`;

/** More stars in one part of a path could take exponential time. */
const isSafeGlob = (pattern: string): boolean =>
  pattern.length <= 200 && pattern.split('/').every((part) => (part.match(/[*?+@!([{]/g) ?? []).length <= 4);

export interface Subject {
  text: string;
  files?: readonly string[] | undefined;
  labels?: readonly string[] | undefined;
}

export interface SkillMatch {
  skill: Skill;
  score: number;
  why: string[];
}

/** Weights of the three kinds of triggers: a label says most about what the work is. */
const [KEYWORD, FILE, LABEL] = [2, 3, 4];

/** The skills whose triggers fit, best first. A keyword fits when the text has all its stems. */
export function matchSkills(
  skills: readonly Skill[],
  { text, files = [], labels = [] }: Subject,
): SkillMatch[] {
  const terms = new Set(termsOf(text));
  const names = new Set(labels.map((label) => label.toLowerCase()));
  const match = (skill: Skill): SkillMatch => {
    const { keywords = [], file_patterns = [], linear_labels = [] } = skill.manifest.triggers ?? {};
    const words = keywords.filter((keyword) => {
      const wanted = termsOf(keyword);
      return wanted.length > 0 && wanted.every((term) => terms.has(term));
    });
    // Compiling a pattern takes time, and often there is no file.
    const candidates = files.length > 0 ? file_patterns.filter(isSafeGlob) : [];
    const patterns = candidates.flatMap((pattern) => {
      const isMatch = picomatch(pattern, { dot: true, basename: !pattern.includes('/') });
      const found = files.find((file) => isMatch(file));
      return found === undefined ? [] : [`${found} is ${pattern}`];
    });
    const found = linear_labels.filter((label) => names.has(label.toLowerCase()));
    return {
      skill,
      score: KEYWORD * words.length + FILE * patterns.length + LABEL * found.length,
      why: [
        ...words.map((word) => `keyword "${oneLine(word, 60)}"`),
        ...patterns.map((pattern) => `file ${oneLine(pattern, 120)}`),
        ...found.map((label) => `label "${oneLine(label, 60)}"`),
      ],
    };
  };
  return skills
    .map(match)
    .filter(({ score }) => score > 0)
    .sort(
      ({ skill: a, ...one }, { skill: b, ...other }) =>
        other.score - one.score || breadth(a) - breadth(b) || compareText(a.name, b.name),
    );
}

/** Of two that fit equally well, the one with fewer triggers is about less, so more about this. */
const breadth = ({ manifest }: Skill): number => Object.values(manifest.triggers ?? {}).flat().length;

/** SKL-04: a skill, then the skills it requires, each once. Exit 2 names the path to a missing skill or a cycle. */
export function orderSkills(skills: readonly Skill[], first: string): string[] {
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  const order: string[] = [];
  const visit = (name: string, path: readonly string[]): void => {
    const way = [...path, name].join(' → ');
    if (path.includes(name)) throw usage('skill.cycle', `Skills require each other in a cycle: ${way}.`);
    const skill = byName.get(name);
    const fix = `Take it out of "requires" in .forge/skills/${path.at(-1)}/${MANIFEST_FILE}.`;
    if (!skill)
      throw usage('skill.missing', `There is no skill ${name}, which is required here: ${way}. ${fix}`);
    if (!order.includes(name)) order.push(name);
    for (const next of requiredBy(skill.manifest)) visit(next, [...path, name]);
  };
  visit(first, []);
  return order;
}
