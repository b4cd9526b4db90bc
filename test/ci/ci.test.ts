import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { skipped, toResult } from '../../src/ci/ci.js';
import { namedStart } from '../../src/ci/range.js';
import {
  type CiCheck,
  type CiReport,
  ciExit,
  ciFormat,
  formatCheck,
  formatJunit,
  formatSummary,
} from '../../src/ci/report.js';
import { isWellFormed } from '../support/xml.js';

const check = (name: CiCheck['name'], rest: Omit<CiCheck, 'name'> = toResult('1 commit')): CiCheck => ({
  name,
  ...rest,
});
const report = (...checks: CiCheck[]): CiReport => ({
  ok: checks.every(({ state }) => state !== 'failed'),
  range: null,
  range_from: null,
  checks,
  notes: [],
});
const SHA = 'ab'.repeat(20);
/** Commands of CI systems, and characters that break formats. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...['::error::', '##[error]', '##[', '::', '##vso[x]', '\n', '\r', '\u001b[31m', '\u0000'],
        '%0A',
      ),
      fc.constantFrom(
        ...['<', '>', '&', '"', "'", ']]>', '\ufffe', '\ud800', '\u2028', '\u0085', ' ', '#', ':', ','],
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));
const finding = fc.record(
  {
    message: hostile,
    fix: hostile,
    file: hostile,
    output: hostile,
    commit: fc.constant(SHA),
    line: fc.integer({ min: 1, max: 9999 }),
  },
  { requiredKeys: ['message'] },
);
const hostileCheck = fc
  .record({ detail: hostile, findings: fc.array(finding, { maxLength: 4 }) })
  .map(({ detail, findings }) => check('guard', toResult(detail, findings, 'secret')));

describe('the exit code', () => {
  it.each([
    [['findings', 'corrupted', 'secret'], 4],
    [['outside', 'secret', 'findings'], 5],
    [['outside', 'refused', 'findings'], 1],
    [['outside', 'refused'], 3],
    [['outside'], 6],
    [[], 0],
  ] as const)('GIT-07 of %j is %d', (causes, exit) => {
    const failed = causes.map((cause) => check('commits', toResult('x', [{ message: 'm' }], cause)));
    expect(ciExit(report(check('memory'), check('guard', skipped('why')), ...failed))).toBe(exit);
  });
});

describe('the CI system', () => {
  it('GIT-07 is detected by its documented variable', () => {
    expect(ciFormat({ GITHUB_ACTIONS: 'true' })).toBe('github');
    expect(ciFormat({ GITLAB_CI: 'true' })).toBe('gitlab');
    expect(ciFormat({ CI: 'true', GITHUB_ACTIONS: 'false' })).toBe('plain');
  });

  it('GIT-07 gives the first commit; zeros, options and other words give none', () => {
    expect(namedStart({ GITHUB_BASE_REF: 'release/1.0', CI_COMMIT_BEFORE_SHA: SHA }, 'origin')).toMatchObject(
      { rev: 'refs/remotes/origin/release/1.0' },
    );
    expect(namedStart({ CI_COMMIT_BEFORE_SHA: SHA }, 'origin')).toMatchObject({ rev: SHA });
    for (const base of ['-x', 'a..b', 'a^', 'a:b', '@', 'a@{1}', 'a/', '.a', 'a\\b', 'a*', 'é\n'])
      expect(namedStart({ GITHUB_BASE_REF: base }, 'origin'), base).toBeNull();
    for (const id of ['HEAD', '-x', SHA.slice(1), `${SHA}\n`, SHA.toUpperCase(), '0'.repeat(40)])
      expect(namedStart({ CI_COMMIT_BEFORE_SHA: id }, 'origin'), id).toBeNull();
  });
});

describe('the log', () => {
  it('GIT-07 has one line for a check without findings, else each finding and its fix', () => {
    expect(formatCheck(check('commits'), 'github')).toBe('✓ commits      1 commit');
    const failed = check(
      'guard',
      toResult('3 places', [
        { message: 'a token', fix: 'without it', file: 'a.js', line: 3, commit: SHA, output: 'one\n\ntwo\n' },
      ]),
    );
    expect(formatCheck(failed, 'plain').split('\n')).toEqual([
      '✗ guard        3 places',
      '    ababababab a.js:3: a token',
      '      → without it',
      '      | one',
      '      | two',
    ]);
    expect(formatCheck(failed, 'github').split('\n').at(-1)).toBe(
      '::error file=a.js,line=3,title=forge guard ababababab::a token%0A→ without it',
    );
    expect(formatSummary(report(failed, check('memory', skipped('no'))))).toBe(
      'forge ci: 1 finding in guard (skipped: memory)',
    );
  });

  it('GIT-07 shows the first fifty findings', () => {
    const many = Array.from({ length: 60 }, (_, i) => ({ message: `m${i}` }));
    const lines = formatCheck(check('commits', toResult('x', many)), 'github').split('\n');
    expect(lines).toHaveLength(1 + 50 + 1 + 10);
    expect(lines[51]).toBe('    and 10 more: forge ci --json');
  });

  it('GIT-07 no text in a finding starts one either', () => {
    fc.assert(
      fc.property(hostileCheck, fc.constantFrom('github', 'gitlab', 'plain'), (hostileOne, format) => {
        const log = formatCheck(hostileOne, format);
        const own = format === 'github' ? Math.min(hostileOne.findings.length, 10) : 0;
        const lines = log.split(/\r\n|[\r\n\u0085\u2028\u2029]/);
        expect(lines.filter((line) => line.trimStart().startsWith('::')).length).toBe(own);
        expect(log).not.toMatch(/##[\w.-]*\[/);
        expect(log).not.toContain('\u001b');
      }),
      { numRuns: 500 },
    );
  });
});

describe("JUnit's XML", () => {
  it('GIT-07 has one case per check', () => {
    const xml = formatJunit(
      report(
        check('commits', toResult('x', [{ message: 'a <b>', fix: '"c" & d' }])),
        check('memory', toResult('x', [{ message: 'no git' }], 'outside')),
        check('guard', skipped('none')),
        check('features'),
      ),
    );
    expect(isWellFormed(xml)).toBe(true);
    expect(xml).toContain('tests="4" failures="2" errors="0" skipped="1"');
    expect(xml).toContain(
      '<failure type="findings" message="a &lt;b&gt;">a &lt;b&gt;\n  → &quot;c&quot; &amp; d</failure>',
    );
    expect(xml).toContain('<failure type="outside" message="no git">no git</failure>');
    expect(xml).toContain('<skipped message="none"/>');
  });

  it('GIT-07 is always well-formed', () => {
    fc.assert(
      fc.property(hostileCheck, hostile, (hostileOne, why) => {
        expect(isWellFormed(formatJunit(report(hostileOne, check('memory', skipped(why)))))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
