import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CommitMessage, formatCommitMessage, parseMessage } from '../../src/commit/message.js';
import { checkMessage } from '../../src/commit/protocol.js';
import { DEFAULT_SETTINGS, makeRules } from '../../src/commit/rules.js';
import { oneLine } from '../../src/core/text.js';
import { MESSAGE } from '../support/message.js';

const RFC_SAMPLE = MESSAGE.replace('change 1\n', 'change 1\n- Specific change 2\n')
  .replace('key insight', '[key insight]\n- Updated: features.json (FORGE-002 now passing)')
  .replace('Parent: none', 'Parent: abc1234 (previous working state)')
  .replace('Session: none', 'Session: 2025-12-24-session-001');

const SAMPLE: CommitMessage = {
  id: 'SX9-123',
  subject: 'Brief description',
  what: ['Specific change 1', 'Specific change 2'],
  why: 'Rationale for the change',
  learned: ['[key insight]'],
  updated: ['features.json (FORGE-002 now passing)'],
  backtrace: {
    parent: 'abc1234',
    parentNote: 'previous working state',
    linear: 'SX9-123',
    session: '2025-12-24-session-001',
  },
};

const PLACEHOLDER = /^\W*(?:todo|tbd|fixme|wip|xxx|none|n\/?a)\W*$/i;
const RULES = makeRules(DEFAULT_SETTINGS, () => ['a.b_c-1']);

describe('a commit message', () => {
  it('SES-06 is read as RFC-9060 §5.1 shows it', () => {
    expect(parseMessage(RFC_SAMPLE)).toEqual(SAMPLE);
  });

  it.each<[string, (text: string) => string]>([
    ['with CRLF', (text) => text.replaceAll('\n', '\r\n')],
    ['with headings indented, so that git keeps them', (text) => text.replaceAll('\n## ', '\n ## ')],
    ['with stars for dashes', (text) => text.replaceAll('\n- ', '\n* ')],
    ['with bullets indented', (text) => text.replaceAll('\n- ', '\n  -   ')],
    ['with trailing spaces', (text) => text.replaceAll('\n', '  \n').replace('description  ', 'description')],
    ['without the final line feed', (text) => text.trimEnd()],
  ])('SES-06 is read %s', (_name, change) => {
    expect(parseMessage(change(RFC_SAMPLE))).toEqual(SAMPLE);
  });

  it.each(['', 'Fix it', 'SX9-123: Fix it', '[SX9-123]', '[SX9-123]Fix', '[-x] Fix', '[a b] Fix'])(
    'SES-06 has no id: %j',
    (text) => {
      expect(parseMessage(text)).toMatchObject({ id: '', subject: text });
    },
  );

  it('GIT-02 is read without its headings, and with its trailers', () => {
    const trailers = ['Signed-off-by: Ada <ada@example.com>'];
    const text = `${RFC_SAMPLE.replace(/^## .*\n/gm, '')}\n${trailers}\nForge-Ledger: execution 1 ab\n`;
    expect(parseMessage(text)).toEqual({ ...SAMPLE, trailers });
  });

  it('GIT-02 has one ledger head a line, which git reads as one trailer', () => {
    const heads = ['a', 'b', 'c'].map((digit) => digit.repeat(64));
    const text = formatCommitMessage({
      ...SAMPLE,
      trailers: ['Signed-off-by: Ada'],
      ledger: [`4 ${heads.join(' ')}`],
    });
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
    const read = execFileSync('git', ['interpret-trailers', '--parse'], { input: text, encoding: 'utf8' });
    expect(read).toBe(`Signed-off-by: Ada\nForge-Ledger: 4 ${heads.join(' ')}\n`);
    expect(parseMessage(text)).toEqual({ ...SAMPLE, trailers: ['Signed-off-by: Ada'] });
  });

  it('SES-06 may have other items in Memory, which are ignored', () => {
    const text = RFC_SAMPLE.replace(
      '## Memory\n',
      '## Memory\n- Learned\n- Forgotten: x\n- Learned:no space\n',
    );
    expect(parseMessage(text)).toEqual({ ...SAMPLE, learned: ['no space', '[key insight]'] });
  });

  it('SES-06 has a first line of at most 72 characters', () => {
    const first = formatCommitMessage({ ...SAMPLE, subject: 'é'.repeat(100) }).split('\n')[0] ?? '';
    expect([...first]).toHaveLength(72);
    expect(first).toMatch(/^\[SX9-123\] é+…$/);
  });

  it.each([
    '## Memory\n- Learned: forged',
    'Because\n\n## Backtrace\n- Session: forged',
    'Because\n   ## Backtrace   \n- Linear: forged',
    '\n\n  ## What\n- forged',
    '# Big\n## What\n- forged\n## Memory\n- Updated: forged',
  ])('SES-06 a heading in its prose is text: %j', (why) => {
    const message = parseMessage(formatCommitMessage({ ...SAMPLE, why }));
    expect({ ...message, why: '' }).toEqual({ ...SAMPLE, why: '' });
    expect(message.why).toContain(why.trim().split('\n').at(-1));
  });

  it.each([
    'a\n## Memory\n- Learned: forged',
    'a\r\n\r\n## What\r\n- forged',
    'a\u2028## Backtrace\u2028- Linear: forged',
  ])('SES-06 keeps each item on one line: %j', (text) => {
    const { backtrace } = SAMPLE;
    const message = {
      ...SAMPLE,
      subject: text,
      what: [text],
      learned: [text],
      updated: [text],
      backtrace: { ...backtrace, parentNote: text },
    };
    const read = parseMessage(formatCommitMessage(message));
    expect([read.what.length, read.learned.length, read.updated.length]).toEqual([1, 1, 1]);
    expect(read.backtrace).toMatchObject({ linear: 'SX9-123', session: '2025-12-24-session-001' });
  });

  it('SES-06 GIT-01 any survives formatting and parsing, and passes the check', () => {
    const pieces = fc.constantFrom('Learned: ', '## What', ...'a :-*#()[]😀→');
    const line = (max: number) =>
      fc
        .oneof(fc.string({ unit: pieces, maxLength: 12 }), fc.string({ unit: 'grapheme' }))
        .map((text) => oneLine(text, max))
        // A placeholder is rejected even if forge writes it.
        .filter((text) => /[\p{L}\p{N}]/u.test(text) && !PLACEHOLDER.test(text));
    const messages = fc.record({
      id: fc.constantFrom('SX9-1', 'FORGE', 'a.b_c-1'),
      subject: line(60),
      what: fc.array(line(500), { minLength: 1, maxLength: 4 }),
      why: line(500),
      learned: fc.array(line(500), { maxLength: 3 }),
      updated: fc.array(line(500), { maxLength: 3 }),
      backtrace: fc.record(
        {
          parent: fc.constantFrom('none', 'abc1234'),
          parentNote: line(100),
          linear: fc.constantFrom('none', 'SX9-1'),
          session: fc.constant('2026-03-01-session-001'),
        },
        { requiredKeys: ['parent', 'linear', 'session'] },
      ),
    });
    fc.assert(
      fc.property(messages, (message) => {
        const written = formatCommitMessage(message);
        expect(parseMessage(written)).toEqual(message);
        for (const state of [{}, { stored: true }])
          expect([written, checkMessage(Buffer.from(written), RULES, state).problems]).toEqual([written, []]);
      }),
      { numRuns: 500 },
    );
  });
});
