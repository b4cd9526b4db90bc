import { escapeControls, oneLine, plural } from '../core/text.js';
import type { CiCheck, CiFinding, CiFormat, CiReport } from './rules.js';

const MARKS: Record<CiCheck['state'], string> = { ok: '✓', warned: '!', failed: '✗', skipped: '·' };

/** A log is read by people: of thousands of findings it has the first. The JSON has all. */
const MAX_SHOWN = 50;
/** GitHub shows no more than ten of a step. */
const MAX_ANNOTATIONS = 10;
const MAX_OUTPUT_LINES = 20;
const MAX_TEXT = 400;

/**
 * A line of a log, in which no text of a commit, a file's name or a test can start a command of the system that reads it:
 * `::error` begins a line, `##[error]` and `##vso[…]` may stand anywhere in one. What the terminal would obey is escaped by
 * `oneLine` before.
 */
export const defuse = (line: string): string =>
  line.replace(/##(?=[\w.-]*\[)/g, '# #').replace(/^(\s*):(?=:)/, '$1: ');

/** Where it is: `1a2b3c4d5e src/app.js:3`. */
const placeOf = ({ file, line, commit }: CiFinding): string =>
  [
    commit?.slice(0, 10) ?? '',
    file === undefined ? '' : `${oneLine(file)}${line === undefined ? '' : `:${line}`}`,
  ]
    .filter(Boolean)
    .join(' ');

/** A finding as lines without indentation. */
function sayFinding(finding: CiFinding): string[] {
  const where = placeOf(finding);
  const output = (finding.output ?? '').split('\n').filter((line) => line.trim() !== '');
  return [
    `${where === '' ? '' : `${where}: `}${oneLine(finding.message, MAX_TEXT)}`,
    ...(finding.fix ? [`  → ${oneLine(finding.fix, MAX_TEXT)}`] : []),
    ...output.slice(-MAX_OUTPUT_LINES).map((line) => `  | ${oneLine(line, MAX_TEXT)}`),
  ];
}

/** A check as lines of a log; for GitHub with its annotations. */
export function formatCheck(check: CiCheck, format: CiFormat): string {
  const head = `${MARKS[check.state]} ${check.name.padEnd(11)}  ${oneLine(check.detail, MAX_TEXT)}`;
  const shown = check.findings.slice(0, MAX_SHOWN);
  const more = check.findings.length - shown.length;
  const lines = [
    ...shown.flatMap(sayFinding).map((line) => `    ${line}`),
    ...(more > 0 ? [`    and ${more} more: forge ci --json`] : []),
  ];
  return [...[head, ...lines].map(defuse), ...(format === 'github' ? annotations(check) : [])].join('\n');
}

/** The last words. */
export function formatEnd({ ok, checks, notes }: CiReport): string {
  const named = (wanted: CiCheck['state']): string =>
    checks
      .filter(({ state }) => state === wanted)
      .map(({ name }) => name)
      .join(', ');
  const all = checks.flatMap(({ findings }) => findings);
  const warnings = all.filter(({ warning }) => warning).length;
  const verdict = ok
    ? 'nothing is wrong'
    : `${plural(all.length - warnings, 'finding')} in ${named('failed')}`;
  const warned = warnings > 0 ? `, ${plural(warnings, 'warning')}` : '';
  const left = named('skipped') === '' ? '' : ` (skipped: ${named('skipped')})`;
  return [
    ...notes.map((note) => defuse(`· ${oneLine(note, MAX_TEXT)}`)),
    `forge ci: ${verdict}${warned}${left}`,
  ].join('\n');
}

const annotations = (check: CiCheck): string[] =>
  check.findings.slice(0, MAX_ANNOTATIONS).map((finding) => annotation(check.name, finding));

/** docs.github.com, "Workflow commands": what would end a part of one is escaped. */
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

/**
 * The report for programs that read JUnit's XML: a test case a check, its name always the same, so that two runs can be
 * compared; all its findings in one element, because some readers take no second one.
 */
export function junit({ checks }: Pick<CiReport, 'checks'>): string {
  const counts = {
    tests: checks.length,
    failures: checks.filter((check) => kindOf(check) === 'failure').length,
    errors: checks.filter((check) => kindOf(check) === 'error').length,
    skipped: checks.filter(({ state }) => state === 'skipped').length,
  };
  const attributes = Object.entries(counts).map(([name, count]) => `${name}="${count}"`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="forge ci" ${attributes.join(' ')}>
${checks.map(testCase).join('')}  </testsuite>
</testsuites>
`;
}

/** JUnit's word for what could not be looked at is an error. */
const kindOf = ({ state, cause }: CiCheck): 'failure' | 'error' | null =>
  state !== 'failed' ? null : cause === 'outside' || cause === 'refused' ? 'error' : 'failure';

function testCase(check: CiCheck): string {
  const open = `    <testcase classname="forge ci" name="${check.name}"`;
  const body = bodyOf(check);
  return body === '' ? `${open}/>\n` : `${open}>\n      ${body}\n    </testcase>\n`;
}

function bodyOf(check: CiCheck): string {
  const { state, cause = 'findings', detail, findings } = check;
  if (state === 'skipped') return `<skipped message="${xml(oneLine(detail, 400))}"/>`;
  const kind = kindOf(check);
  if (kind === null) return '';
  const said =
    findings.length === 1 ? oneLine(findings[0]?.message ?? '', 400) : plural(findings.length, 'finding');
  const lines = findings.flatMap(sayFinding).join('\n');
  return `<${kind} type="${cause}" message="${xml(said)}">${xml(lines)}</${kind}>`;
}

/** Control characters, for which XML has no place at all, were escaped with the text. */
const xml = (text: string): string =>
  text
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
