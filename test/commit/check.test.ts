import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CheckedMessage, checkMessage } from '../../src/commit/protocol.js';
import {
  type CommitSettings,
  DEFAULT_SETTINGS,
  isBound,
  type Mark,
  type MessageState,
  makeRules,
  RULES,
  type Who,
} from '../../src/commit/rules.js';
import { MESSAGE } from '../support/message.js';

const GOOD = MESSAGE.replace('Parent: none', 'Parent: abc1234 (previous working state)').replace(
  'Session: none',
  'Session: 2025-12-24-session-001',
);

const PEOPLE = { author: 'Ann', authorEmail: 'ann@example.com', committerEmail: 'ann@example.com', at: 0 };

const check = (
  text: string | Buffer,
  state: MessageState = {},
  settings: Partial<CommitSettings> = {},
): CheckedMessage =>
  checkMessage(
    Buffer.from(text as string),
    makeRules({ ...DEFAULT_SETTINGS, ...settings }, () => ['login']),
    state,
  );

const found = (text: string | Buffer, state?: MessageState, settings?: Partial<CommitSettings>): string[] =>
  check(text, state, settings).problems.map(({ rule, line }) => `${rule} ${line}`);

const edit = (from: string | RegExp, to: string): string => GOOD.replace(from, to);

describe('the check of a commit message', () => {
  it('GIT-01 accepts the message of RFC-9060 §5.1', () => {
    expect(check(GOOD)).toEqual({ subject: '[SX9-123] Brief description', problems: [], mark: 'protocol' });
    expect(check(GOOD.replaceAll('\n## ', '\n ## ')).problems).toEqual([]);
    expect(check(GOOD, { strips: true }).problems).toEqual([]);
    expect(check(`# A remark\n${GOOD}; another\n`, { strips: true, comment: '#' }).problems).toEqual([]);
  });

  it.each<[string, string, string, string]>([
    [
      'subject 1',
      edit('[SX9-123] ', ''),
      'The subject is not "[ID] description".',
      '[FORGE] Brief description',
    ],
    ['subject 1', edit('[SX9-123] ', 'SX9-123: '), 'The subject is not', '[SX9-123] Brief description'],
    ['subject 1', edit('] Brief', ']Brief'), 'The subject is not', '[SX9-123] Brief description'],
    ['id 1', edit('SX9-123]', 'sx9]'), 'sx9 is not the id of an issue', '[FORGE] Brief description'],
    ['description 1', edit(' Brief description', ''), 'no description', '[SX9-123] what the change does'],
    [
      'subject-length 1',
      edit('Brief', `Brief${' word'.repeat(20)}`),
      '127 characters with its id; 72',
      `[SX9-123] Brief${' word'.repeat(11)}`,
    ],
    ['blank-line 2', edit('\n\n', '\nmore\n\n'), 'not empty', '\nmore'],
    ['sections 13', edit(/## What\n.*\n\n/, ''), '"## What" is missing', '## What\n- what changed'],
    ['headings 9', edit('## Memory', '## Notes\n\n## Memory'), '"## Notes" is not a heading', '    ## Notes'],
    ['what 4', edit('- Specific', 'Specific'), 'has no item', '- what changed'],
    ['why 7', edit('Rationale for the change\n', ''), 'has no text', 'why it changed'],
    ['why 7', edit('Rationale for the change', 'TODO'), 'has only a placeholder: TODO', 'why it changed'],
    ['what 4', edit('Specific change 1', 'tbd.'), 'has only a placeholder: tbd.', '- what changed'],
    ['memory 10', edit('Learned', 'Noted'), 'has neither "Learned:" nor', '- Learned: none'],
    ['backtrace 14', edit('Linear: SX9-123', 'Linear: banana'), 'Linear names "banana"', '- Linear: none'],
    ['invisible 7', edit('Rationale', 'Ratio\u202enale'), 'U+202E', 'Rationale for the change'],
    ['backtrace 13', edit('- Linear: SX9-123\n', ''), 'has no Linear', '- Linear: none'],
    ['backtrace 13', edit('abc1234', 'the last one'), 'nor "none"', '- Parent: none'],
    ['backtrace 13', edit('abc1234', 'abc123'), 'nor "none"', '- Parent: none'],
  ])('GIT-01 reports the problem and the text to write: %s', (place, text, message, fix) => {
    const { problems } = check(text);
    expect(found(text)).toEqual([place]);
    expect(problems[0]?.message).toContain(message);
    expect(problems[0]?.fix).toBe(fix);
  });

  it('GIT-01 a message with all fixes applied passes', () => {
    const texts = [
      'Fix',
      '',
      edit('## Why', '## why:'),
      edit('## Memory\n- Learned: key insight', '## Memory'),
      '[x] y\nz\n',
    ];
    for (const text of texts) {
      const lines = text.split('\n');
      for (let round = 0; round < 12; round++) {
        const [problem] = check(lines.join('\n')).problems;
        if (!problem) break;
        const isNew =
          ['sections', 'what', 'why', 'memory'].includes(problem.rule) || / has no /.test(problem.message);
        if (problem.line > lines.length) lines.push('', ...problem.fix.split('\n'));
        else lines.splice(problem.line - 1, isNew ? 0 : 1, ...problem.fix.split('\n'));
      }
      expect([text, found(lines.join('\n'))]).toEqual([text, []]);
    }
  });

  it.each([
    ['the id of a feature', edit('[SX9-123]', '[login]')],
    ['the project as the id', edit('[SX9-123]', '[FORGE]')],
    ['none for Parent, Linear and Session', GOOD.replace(/(Parent|Linear|Session): .*/g, '$1: none')],
    ['a hash of 64 digits', edit('abc1234', 'a'.repeat(64))],
    ['fenced code', edit('the change\n', 'the change:\n```md\n## Usage\n```\n')],
    ['a fence that is never closed', edit('the change\n', 'the change:\n```\n')],
    ['items with tabs, +, 1. and 1)', edit('- Specific', '+\tSpecific').replace('- Learned', '1. Learned')],
    ['sections that a squash repeats', `${GOOD}\n${GOOD}`],
    ['several issues, with a note or as a link', edit('Linear: SX9-123', 'Linear: SX9-1, SX9-2 (both)')],
    ['a link to an issue', edit('Linear: SX9-123', 'Linear: https://linear.app/x/issue/SX9-1/title')],
    [
      'a subject that (#123) made too long',
      `[SX9-1] ${'x'.repeat(64)} (#123)${GOOD.slice(GOOD.indexOf('\n'))}`,
    ],
  ])('GIT-01 accepts %s', (_name, text) => {
    expect(found(text)).toEqual([]);
  });

  it('GIT-01 suggests the parent, and reports one that is not a commit', () => {
    const parent = 'c0ffee1234'.repeat(4);
    const { problems } = check(edit('abc1234', 'HEAD~1'), { parent });
    expect(problems).toMatchObject([{ line: 13, fix: '- Parent: c0ffee1234' }]);
    const unknown = check(GOOD, { parent, unknownParent: 'abc1234' });
    expect(unknown.problems).toMatchObject([
      { message: 'The parent abc1234 is not a commit of this repository.', fix: '- Parent: c0ffee1234' },
    ]);
  });

  it('GIT-01 explains how to restore headings that a squash lost', () => {
    const lost = GOOD.replace(/^## .*\n/gm, '');
    expect(check(lost, { stored: true }).problems[0]?.message).toContain('forge commit --amend');
    expect(check('[A-1] x\n\n- y\n', { stored: true }).problems[0]?.message).toBe('"## What" is missing.');
  });

  it('GIT-01 rules, sections and the form of ids are settings', () => {
    for (const rule of RULES) {
      const all = found('x\ny\n ## What\n ## What\n');
      expect(found('x\ny\n ## What\n ## What\n', {}, { rules_off: [rule] })).toEqual(
        all.filter((place) => !place.startsWith(`${rule} `)),
      );
    }
    expect(found('[A-1] x\n', {}, { sections: [] })).toEqual([]);
    expect(found('[A-1] x\n\n## Why\ny\n', {}, { sections: ['Why'] })).toEqual([]);
    expect(found(GOOD.replaceAll('SX9-123', '#12'), {}, { id_pattern: '#\\d+' })).toEqual([]);
    expect(found(GOOD, {}, { id_pattern: '#\\d+' })).toEqual(['id 1']);
    expect(found(GOOD, {}, { subject_length: 20 })).toEqual(['subject-length 1']);
  });

  it('GIT-01 counts an emoji as one character', () => {
    const messages = (subject: string) =>
      check(`${subject}\n`, {}, { subject_length: 10, sections: [] }).problems.map(({ message }) => message);
    expect(messages(`[A-1] ${'😀'.repeat(4)}`)).toEqual([]);
    expect(messages(`[A-1] ${'😀'.repeat(5)}`)).toEqual([
      'The subject has 11 characters with its id; 10 are allowed.',
    ]);
  });

  it.each<[string, MessageState, string]>([
    ['anything', { operation: 'merge' }, 'merge'],
    ['anything', { operation: 'rebase' }, 'rebase'],
    ["Merge branch 'x'", { parents: 2 }, 'merge'],
    ['fixup! [SX9-1] x', {}, 'fixup'],
    ['squash! [SX9-1] x', {}, 'fixup'],
    ['amend! [SX9-1] x\n\n[SX9-1] y', {}, 'fixup'],
    [`Revert "[SX9-1] x"\n\nThis reverts commit ${'a'.repeat(40)}.`, {}, 'revert'],
    [`Reapply "x"\n\nThis reverts commit ${'a'.repeat(64)}.`, {}, 'revert'],
    ['Revert "x" (#12)\n\nReverts owner/repo#11', {}, 'revert'],
    ['Revert "x"\n\nThis reverts merge request group/project!12', {}, 'revert'],
    ['v1.2.3', {}, 'version'],
    ['1.2.3-rc.1', {}, 'version'],
    ['chore(release): 1.2.3', {}, 'version'],
    ['chore: Release hexyl version 0.14.0', {}, 'version'],
    ['Version Packages', {}, 'version'],
    ['Bump left-pad from 1 to 2', {}, 'pattern'],
    ['Update dependency', { people: { ...PEOPLE, author: 'renovate[bot]' } }, 'bot'],
    ['Fix the login (#123)', { people: PEOPLE }, 'pull-request'],
    ['Fix the login (!123)', { people: PEOPLE }, 'pull-request'],
  ])('GIT-01 exempts %j %j', (text, state, why) => {
    expect(check(text, state, { exempt: ['Bump .*'] })).toMatchObject({ exempt: why, problems: [] });
  });

  it.each<[string, MessageState]>([
    ["Merge branch 'x'", {}],
    ["Merge branch 'x'", { parents: 1, stored: true }],
    ['Revert "x"', {}],
    ['Revert "x"\n\nThis reverts commit nothing.', {}],
    ['fixup!x', {}],
    ['Revert "x"\n\nReverts the change', {}],
    ['Fix the login (#123)', {}],
    ['login v1.2.3', {}],
    ['Fix it', { people: { ...PEOPLE, author: 'claude[bot]', authorEmail: 'noreply@anthropic.com' } }],
  ])('GIT-01 does not exempt %j %j', (text, state) => {
    expect(check(text, state).exempt).toBeUndefined();
    expect(found(text, state)).toContain('subject 1');
  });

  it.each<[string, Mark]>([
    [GOOD, 'protocol'],
    ['Fix it\n\n ## Backtrace\n', 'protocol'],
    ['[SX9-1] Fix it\n\n## Why\n', 'protocol'],
    ['fixup! [SX9-1] Fix it\n', 'protocol'],
    ['Fix it\n\n## What\n- x\n\n## Why\ny\n', null],
    ['Fix it\n\nCo-Authored-By: Claude <noreply@anthropic.com>\n', 'agent'],
    ['Fix it\n\nCo-authored-by: Copilot <198982749+Copilot@users.noreply.github.com>\n', 'agent'],
    ['Fix it\n\nCo-authored-by: Claude Monet <claude@example.com>\n', null],
    ['[BUG-1] Fix it\n', null],
  ])('GIT-08 %j has the mark %s', (text, mark) => {
    expect(check(text, { stored: true }).mark).toBe(mark);
  });

  it('GIT-08 a push must answer for commits made in this clone since its hooks, by its user and agents', () => {
    const owner = { email: 'Ann@example.com', since: 100 };
    const mine = { ...PEOPLE, at: 100 };
    const agent = { ...mine, authorEmail: 'noreply@anthropic.com' };
    const other = { ...mine, authorEmail: 'bob@example.com' };
    const bound = (who: Who) =>
      [
        { people: mine, mark: null },
        { people: mine, mark: 'agent' as const },
        { people: agent, mark: 'agent' as const },
        { people: other, mark: null },
        { people: { ...other, committerEmail: 'bob@example.com' }, mark: 'protocol' as const },
        { people: { ...mine, at: 99 }, mark: 'protocol' as const },
      ].map((commit) => isBound(who, commit, owner));
    expect(bound('mine')).toEqual([true, true, true, false, false, false]);
    expect(bound('agents')).toEqual([false, true, true, false, false, false]);
    expect(bound('all')).toEqual([true, true, true, true, true, false]);
  });

  it('GIT-01 accepts a commit whose [ID] git am removed if its Backtrace names the issue', () => {
    const text = edit('[SX9-123] ', '');
    expect(found(text, { stored: true })).toEqual([]);
    expect(found(text)).toEqual(['subject 1']);
    expect(found(text.replace('Linear: SX9-123', 'Linear: none'), { stored: true })).toEqual(['subject 1']);
  });

  it('B-51 GIT-01 reports NUL, invalid UTF-8 and a byte order mark', () => {
    expect(found(edit('Rationale', 'Ratio\0nale'))).toEqual(['nul 7']);
    expect(found(Buffer.concat([Buffer.from('[A-1] x\n\ny'), Buffer.from([0xff])]))).toEqual(['encoding 3']);
    expect(found(Buffer.from([0xc3]))).toEqual(['encoding 1']);
    expect(found(`\ufeff${GOOD}`)).toEqual(['encoding 1', 'subject 1']);
    const latin = Buffer.from(edit('Rationale', 'Für'), 'latin1');
    expect(found(latin)).toEqual(['encoding 7']);
  });

  it('GIT-01 a heading in another form is missing, and unknown if it is a heading', () => {
    expect(found(edit('## What', '## what'))).toEqual(['sections 16', 'headings 3']);
    expect(found(edit('## Why', '**Why:**'))).toEqual(['sections 16']);
  });

  it('B-51 GIT-01 never throws', () => {
    const bytes = fc.uint8Array({ maxLength: 300 });
    const pieces = fc.constantFrom('A-1', '## ', 'What', 'Why', '- ', 'Parent:', ...'[] \n\r#\0é\ufeff');
    const texts = fc.string({ unit: pieces, maxLength: 80 }).map((text) => Buffer.from(text));
    const states = fc.record(
      { comment: fc.constantFrom('#', ';', '//'), strips: fc.boolean(), stored: fc.boolean() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(bytes, texts), states, (message, state) => {
        for (const problem of checkMessage(message, makeRules(), state).problems)
          expect(problem).toMatchObject({ line: expect.any(Number), fix: expect.any(String) });
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['line feeds', '\n'],
    ['comments', '#\n'],
    ['items', '- x\n'],
    ['headings', '## x\n'],
    ['known headings', '## What\n'],
    ['one line', 'x'],
    ['brackets', '['],
    ['spaces', ' '],
    ['spaces and words', `${' '.repeat(99)}x`],
    ['open brackets', ' ('],
    ['carriage returns', '\r\n'],
    ['NUL', '\0'],
    ['no UTF-8', Buffer.from([0x61, 0xff]).toString('latin1')],
  ])('B-51 GIT-01 100,000 and 5,000,000 bytes of %s are checked in linear time', (_name, unit) => {
    for (const size of [99_000, 5_000_000])
      for (const head of ['', '[A-1] x\n\n## Backtrace\n- Parent: ']) {
        // Anything worse than linear would take longer than a test may.
        const bytes = Buffer.from(head + unit.repeat(size / unit.length), 'latin1');
        const { problems } = checkMessage(bytes, makeRules());
        expect(problems.length).toBeGreaterThan(0);
        expect(JSON.stringify(problems).length).toBeLessThan(10_000);
      }
  });
});
