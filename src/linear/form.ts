import * as z from 'zod/mini';
import { explainSyntax, usage } from '../core/error.js';
import { compilePattern, patternProblem } from '../core/pattern.js';
import { isObject, oneLine } from '../core/text.js';
import { readYaml } from '../core/yaml.js';

const TYPES = ['text', 'markdown', 'reference', 'multi_select', 'checklist', 'select'] as const;

const Field = z.strictObject({
  name: z.string(),
  type: z.enum(TYPES),
  required: z.optional(z.boolean()),
  pattern: z.optional(z.string()),
  /** Words, or `{from: workspace_crates}`: the packages of this workspace. */
  options: z.optional(z.array(z.union([z.string(), z.strictObject({ from: z.string() })]))),
  min_items: z.optional(z.int().check(z.gte(1), z.lte(100))),
});

const Form = z.strictObject({ template: z.string(), fields: z.array(Field) });

/** RFC-9060 §4.2: a question of a form, with its options filled in. */
export interface FormField extends Omit<z.infer<typeof Field>, 'options'> {
  options: string[];
}
export interface Form {
  template: string;
  fields: FormField[];
}

export type Answers = Record<string, string | string[]>;

const MAX_FORM = 64 * 1024;
/** `{from: …}` names either of these. */
const SOURCES = ['workspace_crates', 'workspace_packages'];

/** Exit 2 with the line for a form that cannot be used. `packages`: those of the workspace. */
export function parseForm(text: string, file: string, packages: readonly string[]): Form {
  const broken = (message: string, line?: number): Error =>
    usage('linear.form', `${file}${line === undefined ? '' : `:${line}`}: ${message}.`, { file });
  if (text.length > MAX_FORM) throw broken(`it has more than ${MAX_FORM} characters`);
  const value = explainSyntax(readYaml, text, ({ message, line }) => broken(message, line));
  const result = Form.safeParse(value);
  if (!result.success) {
    const { path = [], message = '' } = result.error.issues[0] ?? {};
    const allowed = path.at(-1) === 'type' ? `allowed: ${TYPES.join(', ')}` : message;
    throw broken(`${path.join('.')}: ${allowed}`);
  }
  const fields = result.data.fields.map(({ options = [], ...field }): FormField => {
    const at = `field ${field.name}`;
    const { pattern = '' } = field;
    const why = GLOB.test(pattern) ? null : patternProblem(pattern);
    if (why !== null) throw broken(`${at}: its pattern cannot be used: ${why}`);
    const filled = options.flatMap((option) => {
      if (typeof option === 'string') return [option];
      if (!SOURCES.includes(option.from))
        throw broken(`${at}: options from ${oneLine(option.from, 40)} are not known`);
      return [...packages];
    });
    if (field.type === 'select' && filled.length === 0) throw broken(`${at}: a select needs options`);
    // Linear refuses an issue without a title.
    return { ...field, ...(field.name === 'title' ? { required: true } : {}), options: filled };
  });
  const names = fields.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw broken(`field ${twice} is there twice`);
  if (!names.includes('title')) throw broken('it has no field title');
  return { template: result.data.template, fields };
}

/** `[BUG] *`: fixed words, then anything. Every other pattern is a regular expression over the whole value. */
const GLOB = /^(\[[A-Za-z]+\] ?)\*$/;

export const prefixOf = ({ pattern }: FormField): string => (pattern && GLOB.exec(pattern)?.[1]) ?? '';

/** Every rule that an answer breaks, in words. */
export function checkAnswer(field: FormField, answer: string | string[] | undefined): string[] {
  const { name, type, required = false, pattern, options, min_items } = field;
  const isList = type === 'multi_select' || type === 'checklist';
  const isChoice = type === 'select' || type === 'multi_select';
  const values = [answer ?? []].flat().filter((value) => value.trim() !== '');
  const least = min_items ?? (required ? 1 : 0);
  // Nothing can be chosen where the workspace has no packages.
  const isEmpty = type === 'multi_select' && options.length === 0;
  if (values.length === 0)
    return least > 0 && !isEmpty ? [`${name} needs ${isList ? `at least ${least}` : 'an answer'}`] : [];
  if (!isList && values.length > 1) return [`${name} takes one answer`];
  const problems = values.length < least ? [`${name} needs at least ${least}, found ${values.length}`] : [];
  for (const value of values) {
    const shown = `${name}: ${JSON.stringify(oneLine(value, 60))}`;
    if (isChoice && !options.includes(value))
      problems.push(`${shown} is not one of ${options.join(', ') || 'none'}`);
    if (pattern !== undefined && !fits(pattern, value)) problems.push(`${shown} does not match ${pattern}`);
    if ((type === 'text' || type === 'reference') && value.includes('\n'))
      problems.push(`${name} must be one line`);
  }
  return problems;
}

function fits(pattern: string, value: string): boolean {
  const prefix = GLOB.exec(pattern)?.[1];
  if (prefix !== undefined) return value.startsWith(prefix) && value.length > prefix.length;
  return compilePattern(pattern)(value);
}

/** All broken rules of a filled-in form; unknown fields too. */
export function checkAnswers({ fields }: Form, answers: Answers): string[] {
  const known = new Set(fields.map(({ name }) => name));
  return [
    ...Object.keys(answers)
      .filter((name) => !known.has(name))
      .map((name) => `${oneLine(name, 60)} is not a field of this form`),
    ...fields.flatMap((field) => checkAnswer(field, answers[field.name])),
  ];
}

/** Answers as YAML or JSON: texts and lists of texts. */
export function parseAnswers(text: string): Answers {
  const broken = (message: string): Error =>
    usage('linear.answers', `The answers are not a list of fields: ${message}.`);
  if (text.length > MAX_FORM) throw broken(`they have more than ${MAX_FORM} characters`);
  const value = explainSyntax(readYaml, text, ({ message }) => broken(message));
  if (!isObject(value)) throw broken('write NAME: ANSWER, one for each line');
  return Object.fromEntries(
    Object.entries(value).map(([name, answer]) => [
      name,
      Array.isArray(answer) ? answer.map(String) : String(answer ?? ''),
    ]),
  );
}

/** `{title: …}` from `--field name=value` options; a list field takes several. */
export function toAnswers(pairs: readonly string[]): Answers {
  const answers: Answers = {};
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at <= 0)
      throw usage('linear.field', `${JSON.stringify(oneLine(pair, 60))} is not NAME=VALUE.`, {
        hint: 'forge linear new --template bug --field title="[BUG] Save fails"',
      });
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    const before = answers[name];
    answers[name] = before === undefined ? value : [before, value].flat();
  }
  return answers;
}
