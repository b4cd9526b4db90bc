import { lstatSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import * as z from 'zod/mini';
import { ForgeError, refused, unlessFailed, usage } from '../core/error.js';
import { filesBelow, readPlain } from '../core/files.js';
import { shown, skillsFolder } from '../core/paths.js';
import { checkInput, decodeProse, decodeUtf8 } from '../core/schema.js';
import { checkText, firstNames, namesLike, oneLine } from '../core/text.js';
import { readActive } from '../feature/store.js';
import type { Context } from '../project/project.js';
import type { Focus } from '../session/rules.js';
import { showFocus } from '../session/running.js';
import { approvedSkills, approveSkill, skillNames } from '../trust/trust.js';
import {
  checkSkill,
  describe,
  instructionsOf,
  isInsideSkill,
  isSkillName,
  MANIFEST_FILE,
  MAX_BYTES,
  MAX_FILES,
  MAX_SKILL_BYTES,
  matchSkills,
  orderSkills,
  parseManifest,
  requiredBy,
  type Skill,
  type SkillMatch,
  type Subject,
} from './rules.js';

export interface ListedSkill {
  name: string;
  description: string;
  version: string | null;
  approved: boolean;
  requires: readonly string[];
  score?: number;
  why?: string[];
}

const folderOf = (context: Context, name: string): string => join(skillsFolder(context.layout), name);

/** Null for a file that is missing, or outside the skill. */
function readText(folder: string, file: string): string | null {
  const bytes = isInsideSkill(file) ? readPlain(`${folder}/${file}`, MAX_BYTES) : null;
  return bytes === null ? null : decodeUtf8(bytes, `${basename(folder)}/${file}`);
}

/** A match among many skills needs neither the files nor the approval of most. */
function loadSkill(context: Context, name: string, approved: (name: string) => boolean): Skill {
  const folder = folderOf(context, name);
  const file = `.forge/skills/${name}/${MANIFEST_FILE}`;
  const text = readText(folder, MANIFEST_FILE);
  if (text === null)
    throw usage('skill.manifest', `${file} is missing.`, { file, hint: `forge skill check ${name}` });
  return {
    name,
    manifest: parseManifest(text, file),
    get files() {
      return filesBelow(folder, 2 * MAX_FILES);
    },
    get isApproved() {
      return approved(name);
    },
  };
}

/** All skills that can be read. The others are warnings. */
function readSkills(context: Context): Skill[] {
  const approved = approvedSkills(context);
  return skillNames(context).flatMap((name) => {
    try {
      return [loadSkill(context, name, approved)];
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      context.warnings.push(`Skill ${oneLine(name, 80)} is left out: ${error.message}`);
      return [];
    }
  });
}

const toListed = ({ name, manifest, isApproved }: Skill, match?: SkillMatch): ListedSkill => ({
  name,
  description: manifest.skill.description,
  version: manifest.skill.version ?? null,
  approved: isApproved,
  requires: requiredBy(manifest),
  ...(match ? { score: match.score, why: match.why } : {}),
});

export async function listSkills(context: Context): Promise<{ skills: ListedSkill[]; warnings: string[] }> {
  return { skills: readSkills(context).map((skill) => toListed(skill)), warnings: context.warnings };
}

export function requireSkill(context: Context, name: string): Skill {
  const names = skillNames(context);
  if (names.includes(name)) return loadSkill(context, name, approvedSkills(context));
  const [near] = namesLike(name, names);
  throw usage('skill.unknown', `There is no skill ${JSON.stringify(oneLine(name, 80))}.`, {
    hint: near ? `forge skill show ${near}` : `forge skill list   # ${firstNames(names, 10)}`,
  });
}

/** Exit 3 unless a person approved these files here: they came with the repository, and instruct agents. */
function requireApproved(skill: Skill): Skill {
  if (skill.isApproved) return skill;
  const message = `Skill ${skill.name} was not approved on this machine.`;
  throw refused('trust.needed', message, { hint: 'forge trust' });
}

export interface ShownSkill extends ListedSkill {
  instructions: string;
  /** Files for `forge skill resource`. */
  resources: string[];
  /** The skill, then what it requires, in the order to follow (SKL-04). */
  order: string[];
}

/** Layer 2: the instructions. */
export async function showSkill(context: Context, { name }: { name: string }): Promise<ShownSkill> {
  const skill = requireApproved(requireSkill(context, name));
  const file = instructionsOf(skill.manifest);
  const instructions = readText(folderOf(context, name), file);
  if (instructions === null)
    throw usage('skill.instructions', `Skill ${name} has no ${oneLine(file, 80)}.`, {
      hint: `forge skill check ${name}`,
    });
  const order = orderSkills(readSkills(context), name);
  const resources = skill.files.filter((each) => each !== file && each !== MANIFEST_FILE);
  return { ...toListed(skill), instructions, resources, order };
}

/** Layer 3: one file of the skill. */
export async function readResource(context: Context, { name, file }: { name: string; file: string }) {
  const skill = requireApproved(requireSkill(context, name));
  const text = skill.files.includes(file) ? readText(folderOf(context, name), file) : null;
  if (text !== null) return { name, file, text };
  throw usage('skill.resource', `Skill ${name} has no file ${JSON.stringify(oneLine(file, 120))}.`, {
    hint: `forge skill show ${name}   # lists its files`,
  });
}

/** SKL-02, SKL-03: what is wrong with skills. */
export async function checkSkills(context: Context, { name }: { name?: string } = {}) {
  const names = name === undefined ? skillNames(context) : [name];
  if (name !== undefined && !skillNames(context).includes(name)) requireSkill(context, name);
  const loaded: Skill[] = [];
  const problems = names.flatMap((each) => {
    const folder = folderOf(context, each);
    try {
      const skill = loadSkill(context, each, () => true);
      loaded.push(skill);
      const instructions = readText(folder, instructionsOf(skill.manifest));
      return checkSkill(skill, instructions, each).map((problem) => ({ skill: each, problem }));
    } catch (error) {
      if (error instanceof ForgeError) return [{ skill: each, problem: error.message }];
      throw error;
    }
  });
  const all = name === undefined ? loaded : readSkills(context);
  for (const skill of loaded)
    try {
      orderSkills(all, skill.name);
    } catch (error) {
      problems.push({ skill: skill.name, problem: (error as Error).message });
    }
  return { skills: names, problems };
}

const MatchInput = z.strictObject({
  text: z.optional(z.string()),
  files: z.optional(z.array(z.string())),
  labels: z.optional(z.array(z.string())),
});
type MatchInput = z.infer<typeof MatchInput>;

/** A task with its files, and its issue with its labels. */
function subjectOf(context: Context, { task, files, linear_issue } = showFocus(context)): Subject {
  const issue = readActive(context).find(({ linear_id }) => linear_id === linear_issue);
  const labels = Array.isArray(issue?.['labels']) ? issue['labels'].map(String) : [];
  return { text: [task ?? '', issue?.title ?? '', issue?.type ?? ''].join('\n'), files, labels };
}

/** Skills for the focus, or for what is given, best first, with the reasons. */
export async function matchFocus(context: Context, raw: MatchInput = {}): Promise<{ skills: ListedSkill[] }> {
  const input = checkInput(MatchInput, raw);
  const isGiven = Object.values(input).some((value) => value !== undefined);
  const subject = isGiven ? { ...input, text: input.text ?? '' } : subjectOf(context);
  return { skills: matchSkills(readSkills(context), subject).map((match) => toListed(match.skill, match)) };
}

/** SKL-06: the approved skill that fits a focus best, and why; null when none fits. */
export function bestSkill(context: Context, focus: Focus): { name: string; why: string[] } | null {
  const best = matchAll(context, focus).find(({ skill }) => skill.isApproved);
  return best ? { name: best.skill.name, why: best.why } : null;
}

/** For the briefing: the skills that fit the focus, best first. Those that are not approved here are only named. */
export function matchingMetadata(context: Context, focus: Focus): string[] {
  const fitting = matchAll(context, focus).map(({ skill }) => skill);
  const waiting = fitting.filter(({ isApproved }) => !isApproved).map(({ name }) => oneLine(name, 80));
  const note = `Not approved on this machine: ${firstNames(waiting, 3)}. A person reads and approves: forge trust`;
  return [
    ...fitting.filter(({ isApproved }) => isApproved).map(({ manifest }) => describe(manifest)),
    ...(waiting.length > 0 ? [note] : []),
  ];
}

const matchAll = (context: Context, focus: Focus): SkillMatch[] =>
  matchSkills(readSkills(context), subjectOf(context, focus));

/** A skill's pattern for the first line of a commit; null without an approved one. */
export function commitPattern(context: Context, name: string): { name: string; pattern: string } | null {
  if (!skillNames(context).includes(name)) return null;
  // A broken skill must not block commits: forge skill check names it.
  return unlessFailed(null, () => {
    const { manifest, isApproved } = loadSkill(context, name, approvedSkills(context));
    const pattern = manifest.git?.commit_pattern;
    return pattern === undefined || !isApproved ? null : { name, pattern };
  });
}

const NewSkillInput = z.strictObject({ name: z.string(), description: z.optional(z.string()) });

/** A skill to fill in. It has no triggers, so that nobody is offered it before. */
export async function newSkill(context: Context, raw: z.infer<typeof NewSkillInput>) {
  const { name, description = `What ${raw.name} does, and when to use it` } = checkInput(NewSkillInput, raw);
  checkName(name);
  checkText(description, { what: 'The description', lines: false, maxBytes: 1024 });
  const { OWN, toManifestText } = await import('./skill-md.js');
  const md = { frontmatter: { name, description, metadata: { [OWN.keywords]: '' } }, body: '' };
  const title = name.replaceAll('-', ' ');
  const body = `# ${title.charAt(0).toUpperCase()}${title.slice(1)}\n\nWhen to use this:\n\n## Steps\n\n1. \n\n## Done means\n\n- \n`;
  return writeSkill(context, name, [
    { path: MANIFEST_FILE, bytes: Buffer.from(toManifestText(md, [])) },
    { path: 'instructions.md', bytes: Buffer.from(body) },
  ]);
}

function checkName(name: string): void {
  if (!isSkillName(name))
    throw usage('skill.name', `${JSON.stringify(oneLine(name, 80))} cannot be a skill's name.`, {
      hint: 'Use lower-case letters, digits and single hyphens, such as release-notes.',
    });
}

interface SkillFile {
  path: string;
  bytes: Buffer;
  /** Of a script that can be run; default 0o666. */
  mode?: number;
}

/** One file of a folder. Of its mode, only whether it can be run counts, as in git. */
const readSkillFile = (folder: string, path: string): SkillFile => ({
  path,
  bytes: readFileSync(join(folder, path)),
  ...(lstatSync(join(folder, path)).mode & 0o100 ? { mode: 0o777 } : {}),
});

function writeSkill(context: Context, name: string, files: readonly SkillFile[]) {
  const folder = folderOf(context, name);
  if (context.disk.exists(folder))
    throw refused('skill.exists', `Skill ${name} already exists.`, { hint: `forge skill show ${name}` });
  context.disk.withLock(() => {
    // Before a folder is made: a refused skill leaves nothing behind.
    for (const { path, bytes } of files) context.disk.checkContent(join(folder, path), bytes);
    for (const { path } of files) context.disk.makeFolder(dirname(join(folder, path)));
    context.disk.replaceAll(files.map((file) => ({ ...file, path: join(folder, file.path) })));
  });
  approveSkill(context, name);
  return { name, files: files.map(({ path }) => shown(context.layout, join(folder, path))) };
}

/** SKL-05: takes over a folder in the open SKILL.md format. */
export async function importSkill(context: Context, input: { folder: string; cwd?: string }) {
  const { folder: given, cwd = context.layout.root } = input;
  const folder = resolve(cwd, given);
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory();
  const source = isFolder ? readPlain(join(folder, 'SKILL.md'), MAX_BYTES) : null;
  if (source === null)
    throw usage('skill.no_skill_md', `${oneLine(given, 200)} has no SKILL.md.`, {
      hint: 'forge skill import FOLDER',
    });
  const { parseSkillMd, toManifestText } = await import('./skill-md.js');
  const md = parseSkillMd(decodeProse(source, 'SKILL.md'), 'SKILL.md');
  const name = String(md.frontmatter['name']);
  checkName(name);
  const paths = filesBelow(folder, 2 * MAX_FILES).filter((path) => path !== 'SKILL.md');
  refuseOddFiles(folder, paths);
  const text = toManifestText(md, paths);
  const files: SkillFile[] = [
    { path: MANIFEST_FILE, bytes: Buffer.from(text) },
    { path: 'instructions.md', bytes: Buffer.from(md.body) },
    ...paths.map((path) => readSkillFile(folder, path)),
  ];
  const size = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (size > MAX_SKILL_BYTES)
    throw usage('skill.too_large', `The skill has ${size} bytes, at most ${MAX_SKILL_BYTES} are allowed.`, {
      hint: `Remove large files, such as fonts, from ${oneLine(given, 200)}.`,
    });
  const manifest = parseManifest(text, MANIFEST_FILE);
  const skill = { name, manifest, files: files.map(({ path }) => path), isApproved: true };
  const problems = checkSkill(skill, md.body, name);
  const hidden = problems.find((problem) => problem.includes('invisible'));
  if (hidden) throw usage('skill.hidden', `Skill ${name}: ${hidden}.`);
  return { ...writeSkill(context, name, files), problems };
}

/** B-89: whole or not at all. */
function refuseOddFiles(folder: string, paths: readonly string[]): void {
  const odd = (why: string): Error => usage('skill.files', `The skill cannot be imported: ${why}.`);
  if (paths.length > MAX_FILES) throw odd(`it has more than ${MAX_FILES} files`);
  for (const path of paths) {
    const name = JSON.stringify(oneLine(path, 120));
    const isTaken = [MANIFEST_FILE, 'instructions.md'].includes(path);
    if (!isInsideSkill(path) || isTaken || path.split('/').includes('.git'))
      throw odd(`${name} is not allowed as a resource`);
    const stat = lstatSync(join(folder, path));
    if (!stat.isFile()) throw odd(`${name} is not a regular file`);
    if ((stat.mode & 0o6000) !== 0) throw odd(`${name} is setuid or setgid`);
  }
}

/** Folders that agents read skills from. */
const EXPORT_FOLDERS = { agents: '.agents/skills', claude: '.claude/skills' } as const;

const ExportInput = z.strictObject({
  name: z.string(),
  to: z.optional(z.string()),
  cwd: z.optional(z.string()),
});

/** SKL-05: writes the skill as agents read it. Refuses a folder with other content. */
export async function exportSkill(context: Context, raw: z.infer<typeof ExportInput>) {
  const { root } = context.layout;
  const { name, to = 'agents', cwd = root } = checkInput(ExportInput, raw);
  const { toSkillMd } = await import('./skill-md.js');
  const { instructions, resources } = await showSkill(context, { name });
  const skill = requireSkill(context, name);
  const place = EXPORT_FOLDERS[to as 'agents'];
  const target = resolve(place ? root : cwd, place ?? to, name);
  const files: SkillFile[] = [
    { path: 'SKILL.md', bytes: Buffer.from(toSkillMd(skill.manifest, instructions)) },
    ...resources.map((path) => readSkillFile(folderOf(context, name), path)),
  ];
  const other = files.find(({ path, bytes }) => {
    const there = statSync(join(target, path), { throwIfNoEntry: false });
    return there && !readFileSync(join(target, path)).equals(bytes);
  });
  if (other)
    throw refused('skill.in_the_way', `${join(target, other.path)} already exists with different content.`, {
      hint: `Remove it, or export elsewhere: forge skill export ${name} --to DIR`,
    });
  if (!context.disk.dryRun)
    for (const { path, bytes, mode = 0o666 } of files) {
      mkdirSync(dirname(join(target, path)), { recursive: true });
      writeFileSync(join(target, path), bytes, { mode });
    }
  for (const { path } of files) context.disk.note(join(target, path));
  return { name, folder: target, files: files.map(({ path }) => path) };
}
