import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defuse, formatCheck, formatEnd, junit } from '../../src/ci/log.js';
import { defaultRefs, namedStart } from '../../src/ci/range.js';
import { type CiCheck, type CiReport, ciExit, ciFormat, looked, skipped } from '../../src/ci/rules.js';
import { isWellFormed } from '../support/xml.js';

const check = (name: CiCheck['name'], rest: Omit<CiCheck, 'name'> = looked('1 commit')): CiCheck => ({
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
/** Words that systems obey, and what breaks out of a form. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '::error::',
        '##[error]',
        '##[',
        '::',
        '##vso[x]',
        '\n',
        '\r',
        '\u001b[31m',
        '\u0000',
        '%0A',
      ),
      fc.constantFrom(
        '<',
        '>',
        '&',
        '"',
        "'",
        ']]>',
        '\ufffe',
        '\ud800',
        '\u2028',
        '\u0085',
        ' ',
        '#',
        ':',
        ',',
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
  .map(({ detail, findings }) => check('guard', looked(detail, findings, 'secret')));

describe('the exit code', () => {
  it.each([
    [['findings', 'corrupted', 'secret'], 4],
    [['outside', 'secret', 'findings'], 5],
    [['outside', 'refused', 'findings'], 1],
    [['outside', 'refused'], 3],
    [['outside'], 6],
    [[], 0],
  ] as const)('GIT-07 of %j is %d', (causes, exit) => {
    const failed = causes.map((cause) => check('commits', looked('x', [{ message: 'm' }], cause)));
    expect(ciExit(report(check('memory'), check('guard', skipped('why')), ...failed))).toBe(exit);
  });
});

describe('where it runs', () => {
  it('GIT-07 is told by the variable that each system documents', () => {
    expect(ciFormat({ GITHUB_ACTIONS: 'true' })).toBe('github');
    expect(ciFormat({ GITLAB_CI: 'true' })).toBe('gitlab');
    expect(ciFormat({ CI: 'true', GITHUB_ACTIONS: 'false' })).toBe('plain');
  });

  it('GIT-07 says where the commits begin; zeros and nothing name nothing', () => {
    const github = { GITHUB_ACTIONS: 'true' };
    expect(
      namedStart({ ...github, GITHUB_BASE_REF: 'release/1.0' }, { before: SHA }, 'origin'),
    ).toMatchObject({
      rev: 'refs/remotes/origin/release/1.0',
      isPushed: false,
    });
    expect(namedStart(github, { before: SHA }, 'origin')).toMatchObject({ rev: SHA, isPushed: true });
    for (const event of [
      null,
      [],
      'x',
      {},
      { before: null },
      { before: '0'.repeat(40) },
      { before: '0'.repeat(64) },
    ])
      expect(namedStart(github, event, 'origin')).toBeNull();
    expect(namedStart({ GITLAB_CI: 'true', CI_COMMIT_BEFORE_SHA: SHA }, null, 'origin')).toMatchObject({
      rev: SHA,
    });
    expect(namedStart({ CI_COMMIT_BEFORE_SHA: SHA, GITHUB_BASE_REF: 'main' }, null, 'origin')).toBeNull();
  });

  it.each([
    '-x',
    '--all',
    'a..b',
    'a b',
    'a^',
    'a:b',
    '@',
    'a@{1}',
    '/a',
    'a/',
    'a//b',
    '.a',
    'a/.b',
    'a.',
    'a\\b',
    'a*',
    'é\n',
  ])('GIT-07 %j is no branch', (name) => {
    expect(() => namedStart({ GITHUB_ACTIONS: 'true', GITHUB_BASE_REF: name }, null, 'origin')).toThrow(
      /holds no branch/,
    );
    expect(
      defaultRefs({ CI_DEFAULT_BRANCH: name }, { repository: { default_branch: name } }, 'origin'),
    ).toEqual(['refs/remotes/origin/HEAD', 'refs/remotes/origin/main', 'refs/remotes/origin/master']);
  });

  it.each(['HEAD', '-x', SHA.slice(1), `${SHA}\n`, SHA.toUpperCase(), 7, {}])(
    'GIT-07 %j is no id',
    (before) => {
      expect(() => namedStart({ GITHUB_ACTIONS: 'true' }, { before }, 'origin')).toThrow(/holds no commit/);
    },
  );
});

describe('the log', () => {
  it('GIT-07 is short where all is well, and says what and what to do where it is not', () => {
    expect(formatCheck(check('commits'), 'github')).toBe('✓ commits      1 commit');
    const failed = check(
      'guard',
      looked('3 places', [
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
    expect(formatEnd(report(failed, check('memory', skipped('no'))))).toBe(
      'forge ci: 1 finding in guard (skipped: memory)',
    );
  });

  it('GIT-07 has the first of very many', () => {
    const many = Array.from({ length: 60 }, (_, i) => ({ message: `m${i}` }));
    const lines = formatCheck(check('commits', looked('x', many)), 'github').split('\n');
    expect(lines).toHaveLength(1 + 50 + 1 + 10);
    expect(lines[51]).toBe('    and 10 more: forge ci --json');
  });

  it('GIT-07 a line begins no command of a system', () => {
    for (const line of [
      '::error::x',
      '  ::set-output name=a::b',
      '\u3000::x',
      '##[error]',
      'a ##[debug]',
      '###[x]',
      '##vso[task]',
      '##teamcity[a]',
    ])
      expect([line, defuse(line).trimStart().startsWith('::'), /##[\w.-]*\[/.test(defuse(line))]).toEqual([
        line,
        false,
        false,
      ]);
    for (const line of ['std::vector', '## What', 'C# [x]', 'a: b']) expect(defuse(line)).toBe(line);
  });

  it('GIT-07 nor does any text in any place of it', () => {
    fc.assert(
      fc.property(hostileCheck, fc.constantFrom('github', 'gitlab', 'plain'), (hostileOne, format) => {
        const said = formatCheck(hostileOne, format);
        const own = format === 'github' ? Math.min(hostileOne.findings.length, 10) : 0;
        const lines = said.split(/\r\n|[\r\n\u0085\u2028\u2029]/);
        expect(lines.filter((line) => line.trimStart().startsWith('::')).length).toBe(own);
        expect(said).not.toMatch(/##[\w.-]*\[/);
        expect(said).not.toContain('\u001b');
      }),
      { numRuns: 500 },
    );
  });
});

describe("JUnit's XML", () => {
  it('GIT-07 has a case a check, and errors for what could not be looked at', () => {
    const xml = junit(
      report(
        check('commits', looked('x', [{ message: 'a <b>', fix: '"c" & d' }])),
        check('memory', looked('x', [{ message: 'no git' }], 'outside')),
        check('guard', skipped('none')),
        check('features'),
      ),
    );
    expect(isWellFormed(xml)).toBe(true);
    expect(xml).toContain('tests="4" failures="1" errors="1" skipped="1"');
    expect(xml).toContain(
      '<failure type="findings" message="a &lt;b&gt;">a &lt;b&gt;\n  → &quot;c&quot; &amp; d</failure>',
    );
    expect(xml).toContain('<error type="outside" message="no git">no git</error>');
    expect(xml).toContain('<skipped message="none"/>');
  });

  it('GIT-07 is well-formed whatever stands in it', () => {
    fc.assert(
      fc.property(hostileCheck, hostile, (hostileOne, why) => {
        expect(isWellFormed(junit(report(hostileOne, check('memory', skipped(why)))))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('the checker of these tests knows what is not', () => {
    const wrong = [
      '<a>',
      '<a></b>',
      '<a b=c/>',
      '<a>&</a>',
      '<a>\u0001</a>',
      '<a/><b/>',
      'x<a/>',
      '<a b="<"/>',
      '',
    ];
    for (const body of wrong)
      expect(isWellFormed(`<?xml version="1.0" encoding="UTF-8"?>\n${body}\n`)).toBe(false);
  });
});
