import { oneLine, plural } from '../core/text.js';
import { sayFinding } from './log.js';
import type { CiCheck, CiReport } from './rules.js';

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
