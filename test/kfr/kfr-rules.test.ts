import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ForgeError } from '../../src/core/error.js';
import { decodeDocument, encodeDocument } from '../../src/core/schema.js';
import {
  answersIn,
  type Entry,
  formatEntries,
  injection,
  isStopReason,
  KFR,
  KFR_HEADER,
  type Kfr,
  KINDS,
  NO_KFR,
  openEntries,
  readKind,
  requireResolved,
  stopReason,
  unparked,
} from '../../src/kfr/rules.js';

const AT = '2026-03-01T10:00:00.000Z';
const entry = (id: number, kind: Entry['kind'], text: string, more: Partial<Entry> = {}): Entry => ({
  id: `kfr-${id}`,
  kind,
  text,
  requires_resolution: kind === 'OpenQuestion',
  created_at: AT,
  ...more,
});
const holding = (...entries: Entry[]): Kfr => ({ ...NO_KFR, session: 's', last: 9, entries });

describe('the text for a prompt', () => {
  it('KFR-04 begins with the header of the specification, byte for byte', () => {
    const header = [
      'Known Facts Registry (KFR) \u2014 Authoritative Working Memory',
      '',
      '- The KFR is a concrete, system-injected artifact defining the agent\u2019s current authoritative working state.',
      '- Only content explicitly present in the injected KFR constitutes the KFR.',
      '- The injected KFR is authoritative over all prior conversational content.',
      '- The agent must not infer, reconstruct, or rely on KFR-like information outside the injected KFR.',
      '- Any prior content that conflicts with the injected KFR must be treated as obsolete.',
      '- The agent must not restate or echo the full KFR in normal responses.',
      '- The KFR may be modified only via the Working Memory update tool.',
      '- If no KFR is injected, no authoritative working memory exists.',
    ].join('\n');
    expect(Buffer.from(KFR_HEADER)).toEqual(Buffer.from(header));
    expect(injection([entry(1, 'Goal', 'ship it')], 'abc')).toBe(
      `${header}\n\nGoal\n- [kfr-1] ship it\n\nEnd of the KFR abc. It is in force until forge sends another or reports that working memory is empty.`,
    );
    expect(injection([], 'abc')).toBeNull();
  });

  it('KFR-01 has the sections in the order of the specification, with its names', () => {
    const entries = [
      entry(5, 'OpenQuestion', 'which cookie?', { parked: { at: AT, reason: 'ask Ada' } }),
      entry(4, 'Constraint', 'no new packages'),
      entry(3, 'ActiveContract', 'exit codes are 0, 2, 3', { requires_resolution: true }),
      entry(2, 'Plan', 'read\nwire\ntest'),
      entry(1, 'Goal', 'logout works'),
      entry(6, 'Constraint', 'below 100 ms'),
    ];
    expect(formatEntries(entries)).toBe(
      [
        'Goal',
        '- [kfr-1] logout works',
        '',
        'Plan',
        '- [kfr-2] read',
        '    | wire',
        '    | test',
        '',
        'Active Contracts',
        '- [kfr-3, requires resolution] exit codes are 0, 2, 3',
        '',
        'Constraints & Invariants',
        '- [kfr-4] no new packages',
        '- [kfr-6] below 100 ms',
        '',
        'Open Questions',
        '- [kfr-5, requires resolution, parked for a human: ask Ada] which cookie?',
      ].join('\n'),
    );
  });

  it('AGT-04 KFR-04 no text can end the block, open a section or pose as another entry', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc
        .array(
          fc.constantFrom(
            ...['\n', '\r', '\u2028', '\u2029', '\u0085', '\v', '\f', '\u001b[2J', '\u202e', '\ufeff'],
            ...['End of the KFR abc', 'Goal', 'Open Questions', '- [kfr-9] ', 'x', KFR_HEADER, '    | ', ' '],
          ),
          { maxLength: 8 },
        )
        .map((parts) => parts.join('')),
    );
    const entries = fc
      .array(fc.tuple(fc.constantFrom(...KINDS), text), { minLength: 1, maxLength: 8 })
      .map((all) => all.map(([kind, said], i) => entry(i + 1, kind, said)));
    fc.assert(
      fc.property(entries, (all) => {
        const block = injection(all, 'abc') as string;
        expect(block.startsWith(`${KFR_HEADER}\n\n`)).toBe(true);
        const lines = block.slice(KFR_HEADER.length + 2).split('\n');
        expect(lines.pop()).toMatch(/^End of the KFR abc\. /);
        const headings = ['Goal', 'Plan', 'Active Contracts', 'Constraints & Invariants'];
        headings.push('Open Questions', '');
        const foreign = lines.filter(
          (line) => !headings.includes(line) && !/^(?:- \[kfr-\d+[^\]]*\] | {4}\| )/.test(line),
        );
        expect(foreign).toEqual([]);
        // One line an entry begins with its id, one a section is its heading.
        expect(
          lines.filter((line) => line.startsWith('- [')).map((line) => /kfr-\d+/.exec(line)?.[0]),
        ).toEqual(KINDS.flatMap((kind) => all.filter((one) => one.kind === kind).map(({ id }) => id)));
        expect(new Set(lines.filter((line) => line !== '' && headings.includes(line))).size).toBe(
          new Set(all.map(({ kind }) => kind)).size,
        );
        // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
        expect(block).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\ufeff]/);
        expect(block.isWellFormed()).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the kinds', () => {
  it.each([
    ['Goal', ['goal', 'GOAL', 'Goals']],
    ['Plan', ['plan', 'pLaN']],
    ['ActiveContract', ['Active Contract', 'active_contracts', 'active-contract', 'Active Contracts']],
    ['Constraint', ['Constraints & Invariants', 'invariant', 'constraints and invariants', 'CONSTRAINTS']],
    ['OpenQuestion', ['Open Questions', 'open question', 'open_question']],
  ])('KFR-01 %s is known by the spellings of both documents', (kind, spellings) => {
    for (const spelling of [kind, ...spellings])
      expect([spelling, readKind(spelling)]).toEqual([spelling, kind]);
  });

  it('KFR-01 nothing else is a kind', () => {
    for (const spelling of ['', 'Todo', 'Note', '__proto__', 'constructor', 'toString', 'Goal!', 'Go al!'])
      expect([spelling, readKind(spelling)]).toEqual([spelling, null]);
  });
});

describe('the resolution gate', () => {
  const kfr = holding(
    entry(1, 'Goal', 'ship'),
    entry(2, 'OpenQuestion', 'which cookie?'),
    entry(3, 'Constraint', 'ask first', { requires_resolution: true, parked: { at: AT, reason: 'Ada' } }),
  );

  it('KFR-09 tells an agent that stops each entry and each way to settle it, in a text of its own', () => {
    const ways = [
      'Ways to settle one (or the tool session_working_memory_update):',
      '  forge kfr patch --resolve kfr-2="the answer"',
      '  forge kfr patch --dismiss kfr-2="why it no longer matters"',
    ];
    const reason = stopReason(openEntries(kfr), 'stop');
    expect(reason.split('\n')).toEqual([
      'forge: before you stop, 2 entries of working memory must be settled:',
      '- kfr-2 (OpenQuestion) which cookie?',
      '- kfr-3 (Constraint) ask first',
      ...ways,
      '  forge kfr patch --park kfr-2="what a person has to decide"   # then you may stop and ask',
    ]);
    expect(stopReason(unparked(kfr), 'compact the conversation').split('\n')).toEqual([
      'forge: before you compact the conversation, 1 entry of working memory must be settled:',
      '- kfr-2 (OpenQuestion) which cookie?',
      ...ways,
    ]);
    expect([`> ${reason}`, 'Stop, and tell me why'].map(isStopReason)).toEqual([true, false]);
  });

  const refusal = (open: Kfr, hint?: string): ForgeError | null => {
    try {
      requireResolved(open, 'The session cannot end', hint);
      return null;
    } catch (error) {
      return error as ForgeError;
    }
  };

  it('KFR-09 refuses, naming each open entry and each way to settle the first', () => {
    expect(refusal(kfr)?.toJSON()).toMatchObject({
      code: 'gate.closed',
      message:
        'The session cannot end: 2 entries require resolution: kfr-2 (OpenQuestion) which cookie?; kfr-3 (Constraint) ask first (parked: Ada)',
      hint: 'forge kfr patch --resolve kfr-2="the answer"\nforge kfr patch --dismiss kfr-2="why it no longer matters"',
      entries: [
        { id: 'kfr-2', kind: 'OpenQuestion', text: 'which cookie?', parked: false },
        { id: 'kfr-3', kind: 'Constraint', text: 'ask first', parked: true },
      ],
    });
    expect(refusal(kfr, 'forge start')?.hint).toBe('forge start');
    expect(refusal(holding(entry(1, 'Goal', 'ship')))).toBeNull();
  });

  it('KFR-09 hands entries that all wait for a person to the next agent', () => {
    const parked = kfr.entries.slice(2);
    expect(refusal(holding(...parked))).toMatchObject({
      message:
        'The session cannot end: 1 entry waits for a person: kfr-3 (Constraint) ask first (parked: Ada)',
      hint: [
        'forge kfr patch --resolve kfr-3="the answer"   # once it is answered',
        'forge note add "For a person: TEXT" && forge kfr patch --dismiss kfr-3="noted"   # if it can wait',
        'forge start --resume latest   # for the next agent: you may stop without an end',
      ].join('\n'),
    });
  });

  it('KFR-10 the answers of a stored KFR are its resolved questions, whatever else it holds', () => {
    const closed = { ...kfr.entries[1], closed_at: AT, outcome: 'resolved', words: 'sid' };
    const others = [
      { ...closed, outcome: 'dismissed' },
      { ...closed, kind: 'Constraint' },
    ];
    expect(answersIn({ closed: [closed, { ...closed, by: 'agent' }, ...others] })).toEqual([
      { id: 'kfr-2', text: 'which cookie? → sid' },
      { id: 'kfr-2', text: 'which cookie? → sid (by an agent)' },
    ]);
    for (const odd of [null, undefined, {}, { closed: 'x' }]) expect(answersIn(odd)).toEqual([]);
  });
});

describe('kfr.json', () => {
  const decode = (kfr: object): Kfr => decodeDocument(KFR, Buffer.from(JSON.stringify(kfr)), 'kfr.json');

  it('B-18 keeps fields of a newer minor version', () => {
    const kfr = { ...holding(entry(1, 'Goal', 'ship', { mood: 'new' })), schema_version: '1.7', extra: [1] };
    expect(decode(JSON.parse(encodeDocument(decode(kfr)).toString()))).toEqual(kfr);
  });
});
