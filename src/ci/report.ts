import { EXIT_CODES } from '../core/error.js';
import { escapeControls, oneLine, plural } from '../core/text.js';

/** The checks of `forge ci`, in this order. */
export const CI_CHECKS = ['commits', 'memory', 'guard', 'features', 'checkpoints'] as const;
export type CiCheckName = (typeof CI_CHECKS)[number];

export interface CiFinding {
  message: string;
  /** It is reported, but fails nothing. */
  warning?: true;
  fix?: string;
  /** From the top of the repository. */
  file?: string;
  /** 1-based. */
  line?: number;
  commit?: string;
  /** The end of a failed test's output. */
  output?: string;
}

/** Why a check failed, the most serious first: findings come before checks that could not be made. */
export const CI_CAUSES = ['corrupted', 'secret', 'findings', 'refused', 'outside'] as const;
export type CiCause = (typeof CI_CAUSES)[number];

export interface CiCheck {
  name: CiCheckName;
  /** `warned`: all findings are warnings. */
  state: 'ok' | 'warned' | 'failed' | 'skipped';
  /** Only if it failed. */
  cause?: CiCause;
  /** What was checked, such as `12 commits`, or why it was skipped. */
  detail: string;
  findings: CiFinding[];
}

export interface CiReport {
  ok: boolean;
  /** Null without commits, or if the range is unknown. */
  range: string | null;
  /** The flag, variable or rule that chose the range. */
  range_from: string | null;
  checks: CiCheck[];
  notes: string[];
}

/** The exit code of the most serious cause (docs/ci.md). */
export function ciExit({ checks }: Pick<CiReport, 'checks'>): number {
  const cause = CI_CAUSES.find((name) => checks.some((check) => check.cause === name));
  return cause === undefined ? 0 : EXIT_CODES[cause];
}

export const CI_FORMATS = ['github', 'gitlab', 'plain'] as const;
type CiFormat = (typeof CI_FORMATS)[number];

/** The CI system, by the variable that it documents. */
export const ciFormat = (env: Record<string, string | undefined>): CiFormat =>
  env.GITHUB_ACTIONS === 'true' ? 'github' : env.GITLAB_CI === 'true' ? 'gitlab' : 'plain';

const MARKS: Record<CiCheck['state'], string> = { ok: '✓', warned: '!', failed: '✗', skipped: '·' };
const MAX_SHOWN = 50;
/** GitHub shows ten per step. */
const MAX_ANNOTATIONS = 10;
const MAX_OUTPUT_LINES = 20;
const MAX_TEXT = 400;

/** Makes a line harmless for a CI system, which runs `::error` at the start of a line and `##[error]` anywhere in it. */
export const defuse = (line: string): string =>
  line.replace(/##(?=[\w.-]*\[)/g, '# #').replace(/^(\s*):(?=:)/, '$1: ');

function formatFinding({ message, fix, file, line, commit, output = '' }: CiFinding): string[] {
  const path = file === undefined ? '' : `${oneLine(file)}${line === undefined ? '' : `:${line}`}`;
  const place = [commit?.slice(0, 10), path].filter(Boolean).join(' ');
  const lines = output.split('\n').filter((text) => text.trim() !== '');
  return [
    `${place === '' ? '' : `${place}: `}${oneLine(message, MAX_TEXT)}`,
    // A value to copy must be whole.
    ...(fix ? [`  → ${oneLine(fix, Number.POSITIVE_INFINITY)}`] : []),
    ...lines.slice(-MAX_OUTPUT_LINES).map((text) => `  | ${oneLine(text, MAX_TEXT)}`),
  ];
}

/** The log of one check. For GitHub, with its annotations. */
export function formatCheck({ name, state, detail, findings }: CiCheck, format: CiFormat): string {
  const more = findings.length - MAX_SHOWN;
  const lines = [
    `${MARKS[state]} ${name.padEnd(11)}  ${oneLine(detail, MAX_TEXT)}`,
    ...findings
      .slice(0, MAX_SHOWN)
      .flatMap(formatFinding)
      .map((line) => `    ${line}`),
    ...(more > 0 ? [`    and ${more} more: forge ci --json`] : []),
  ];
  const annotated = format === 'github' ? findings.slice(0, MAX_ANNOTATIONS) : [];
  return [...lines.map(defuse), ...annotated.map((finding) => annotation(name, finding))].join('\n');
}

/** docs.github.com, "Workflow commands". */
function annotation(check: string, { file, line, commit, message, fix, warning }: CiFinding): string {
  const data = (text: string): string =>
    defuse(escapeControls(text).replace(/[\u2028\u2029]/g, ' '))
      .replaceAll('%', '%25')
      .replaceAll('\r', '%0D')
      .replaceAll('\n', '%0A');
  const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  const properties = [
    ...(file === undefined ? [] : [`file=${property(file)}`]),
    ...(file === undefined || line === undefined ? [] : [`line=${line}`]),
    `title=${property(`forge ${check}${commit === undefined ? '' : ` ${commit.slice(0, 10)}`}`)}`,
  ];
  return `::${warning ? 'warning' : 'error'} ${properties.join(',')}::${data(fix === undefined ? message : `${message}\n→ ${fix}`)}`;
}

export function formatSummary({ ok, checks, notes }: CiReport): string {
  const named = (state: CiCheck['state']): string =>
    checks.flatMap((check) => (check.state === state ? [check.name] : [])).join(', ');
  const all = checks.flatMap(({ findings }) => findings);
  const warnings = all.filter(({ warning }) => warning).length;
  const verdict = ok ? 'no problems' : `${plural(all.length - warnings, 'finding')} in ${named('failed')}`;
  const warned = warnings > 0 ? `, ${plural(warnings, 'warning')}` : '';
  const skipped = named('skipped') === '' ? '' : ` (skipped: ${named('skipped')})`;
  return [
    ...notes.map((note) => defuse(`· ${oneLine(note, MAX_TEXT)}`)),
    `forge ci: ${verdict}${warned}${skipped}`,
  ].join('\n');
}

/** JUnit's XML: one test case per check. Some readers take only one element per case, so it has all findings. */
export function formatJunit({ checks }: Pick<CiReport, 'checks'>): string {
  const cases = checks.map(({ name, state, cause, detail, findings }) => {
    const [first, ...more] = findings;
    const title = first && more.length === 0 ? first.message : plural(findings.length, 'finding');
    const lines = xml(findings.flatMap(formatFinding).join('\n'));
    const body =
      state === 'skipped'
        ? `<skipped message="${xml(oneLine(detail, MAX_TEXT))}"/>`
        : state === 'failed'
          ? `<failure type="${cause}" message="${xml(oneLine(title, MAX_TEXT))}">${lines}</failure>`
          : '';
    return `    <testcase classname="forge ci" name="${name}">${body}</testcase>\n`;
  });
  const count = (wanted: CiCheck['state']): number => checks.filter(({ state }) => state === wanted).length;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="forge ci" tests="${cases.length}" failures="${count('failed')}" errors="0" skipped="${count('skipped')}">
${cases.join('')}  </testsuite>
</testsuites>
`;
}

/** Control characters, which XML cannot contain, are escaped already. */
const xml = (text: string): string =>
  text
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
