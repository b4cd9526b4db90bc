import { oneLine, plural } from './text.js';

/** What `forge ci` looks at, in this order. */
export const CI_CHECKS = ['commits', 'memory', 'guard', 'features', 'checkpoints'] as const;
export type CiCheckName = (typeof CI_CHECKS)[number];

/** Something that is wrong, where it is, and what to do. */
export interface CiFinding {
  message: string;
  fix?: string;
  file?: string;
  line?: number;
  /** The commit that it is in. */
  commit?: string;
}

export interface CiCheck {
  name: CiCheckName;
  state: 'ok' | 'failed' | 'skipped';
  /** What was looked at: `12 commits`; or why it was skipped. */
  detail: string;
  findings: CiFinding[];
}

export interface CiReport {
  ok: boolean;
  /** Of commits; null when there were none to look at. */
  range: string | null;
  checks: CiCheck[];
}

/** By cause: damaged memory, then secrets, then all else (docs/ci.md). */
export function ciExit({ checks }: CiReport): number {
  const failed = (name: CiCheckName): boolean =>
    checks.some((check) => check.name === name && check.state === 'failed');
  if (failed('memory')) return 4;
  if (failed('guard')) return 5;
  return checks.some(({ state }) => state === 'failed') ? 1 : 0;
}

/** Which system runs this, by the variable that each documents; `plain` elsewhere. */
export const CI_FORMATS = ['github', 'gitlab', 'plain'] as const;
export type CiFormat = (typeof CI_FORMATS)[number];

export const ciFormat = (env: Record<string, string | undefined>): CiFormat =>
  env.GITHUB_ACTIONS === 'true' ? 'github' : env.GITLAB_CI === 'true' ? 'gitlab' : 'plain';

const MARKS: Record<CiCheck['state'], string> = { ok: '✓', failed: '✗', skipped: '·' };

const place = ({ file, line, commit }: CiFinding): string =>
  [commit?.slice(0, 10), file === undefined ? undefined : line === undefined ? file : `${file}:${line}`]
    .filter((part) => part !== undefined)
    .join(' ');

const sayPlainly = (finding: CiFinding): string[] => {
  const where = place(finding);
  return [
    `    ${where === '' ? '' : `${where}: `}${oneLine(finding.message, 400)}`,
    ...(finding.fix ? [`      → ${oneLine(finding.fix, 400)}`] : []),
  ];
};

/** The report as lines of a log; in the form that the system takes for annotations, where it has one. */
export function formatCi(report: CiReport, format: CiFormat, now: number): string {
  const parts = report.checks.map((check) => formatCheck(check, format, now));
  return [...parts, summary(report)].join('\n');
}

function formatCheck(check: CiCheck, format: CiFormat, now: number): string {
  const head = `${MARKS[check.state]} ${check.name.padEnd(11)} ${check.detail}`;
  const lines = [head, ...check.findings.flatMap(sayPlainly)];
  if (format === 'github') lines.push(...check.findings.map((finding) => annotation(check.name, finding)));
  if (format !== 'gitlab' || check.findings.length === 0) return lines.join('\n');
  // docs.gitlab.com/ci/jobs/job_logs: a section that can be folded.
  const [start, end] = ['start', 'end'].map(
    (word) => `\u001b[0Ksection_${word}:${Math.floor(now / 1000)}:forge_${check.name}\r\u001b[0K`,
  );
  return [`${start}${head}`, ...lines.slice(1), `${end}`].join('\n');
}

const summary = ({ ok, checks }: CiReport): string => {
  const count = checks.reduce((sum, { findings }) => sum + findings.length, 0);
  return ok ? 'forge ci: all is well' : `forge ci: ${plural(count, 'finding')}`;
};

/** docs.github.com: workflow commands; what would end one is escaped. */
function annotation(check: string, { file, line, commit, message, fix }: CiFinding): string {
  const escaped = (text: string): string =>
    text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = (text: string): string => escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  const properties = [
    ...(file === undefined ? [] : [`file=${property(file)}`]),
    ...(line === undefined || file === undefined ? [] : [`line=${line}`]),
    `title=${property(`forge ${check}${commit ? ` ${commit.slice(0, 10)}` : ''}`)}`,
  ].join(',');
  return `::error ${properties}::${escaped(fix ? `${message}\n→ ${fix}` : message)}`;
}

/** The same for programs that read JUnit's XML: a test case a check, a failure a finding. */
export function junit({ checks }: CiReport): string {
  const cases = checks.map(({ name, state, detail, findings }) => {
    const failures = findings.map(
      (finding) =>
        `      <failure message="${xml(oneLine(finding.message, 400))}">${xml(sayPlainly(finding).join('\n').trim())}</failure>\n`,
    );
    const body = state === 'skipped' ? `      <skipped message="${xml(detail)}"/>\n` : failures.join('');
    return `    <testcase classname="forge" name="${name}">\n${body}    </testcase>\n`;
  });
  const count = (state: CiCheck['state']): number => checks.filter((check) => check.state === state).length;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="forge ci" tests="${checks.length}" failures="${count('failed')}" skipped="${count('skipped')}">
${cases.join('')}  </testsuite>
</testsuites>
`;
}

/** XML has no place at all for most control characters. */
const xml = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to go.
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '�')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
