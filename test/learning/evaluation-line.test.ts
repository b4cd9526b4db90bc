import { isAscii } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchPlainCycle } from '../../src/learning/evaluation-line.js';
import { EvaluationTable } from '../../src/learning/evaluation-table.js';
import { genesisLine, type Piece, parseLine, recordId } from '../../src/ledger/rules/record.js';

const GENESIS = genesisLine('evaluation', recordId('ledger'));
const PREV = recordId(GENESIS);
const AT = '2026-03-01T10:00:00.000Z';
const PATTERNS = [{ pattern: 'Retry once', scope: 'execution', holds: true }];

/** Fields in the order in which forge writes them. */
const FIELDS = {
  v: 1,
  tier: 'evaluation',
  n: 2,
  prev: PREV,
  seen: [],
  at: AT,
  session: null,
  actor: 'supervisor',
  kind: 'cycle',
  key: 'k-1',
  cycle: 1,
  execution: recordId('execution'),
  task_id: 'T-1',
  classification: 'SUCCESS',
  environment_valid: true,
  governance_violations: [],
  quality_signals: { coverage: 91.5, lint: true, 'ratio "x"': -1e-7 },
  regression_flags: [],
  improvement_proposals: ['say "no"\n\ttwice\u0007'],
  evidence: [{ argv: ['npm', 'test'], exit_code: 0, tree: null, output_bytes: 12 }],
  patterns: PATTERNS,
};
const LINE = JSON.stringify(FIELDS);

/** The piece in which a line stands, with another one before and after it. */
function pieceWith(line: Buffer, around = GENESIS): [piece: Piece, start: number, end: number] {
  const other = Buffer.from(`${around}\n`);
  const bytes = Buffer.concat([other, line, Buffer.from('\n'), other]);
  const start = other.length;
  return [{ bytes, text: bytes.toString('latin1'), isAscii: isAscii(bytes) }, start, start + line.length];
}

/** All that a table says, with the first record of its ledger and one line. */
function shown(bytes: Buffer, quickly: boolean): unknown {
  const table = new EvaluationTable();
  table.add(PREV, JSON.parse(GENESIS));
  const wasQuick = quickly && table.addSpan(...pieceWith(bytes));
  const parsed = parseLine(bytes.toString());
  if (!wasQuick && parsed.kind === 'record' && parsed.record.tier === 'evaluation')
    table.add(recordId(bytes), parsed.record);
  return describeTable(table);
}

function describeTable(table: EvaluationTable): unknown {
  const { ids, at, cycle, unmet, isBroken, name, names, claims } = table;
  return Array.from({ length: ids.length }, (_, row) => {
    const said: unknown[] = [];
    for (let claim = claims.startOf(row); claim < claims.startOf(row + 1); claim++)
      said.push([claims.texts[claims.textOf(claim)], claims.holds(claim)]);
    const own = [
      ids.get(row),
      at.get(row),
      cycle[row],
      unmet[row],
      isBroken[row],
      names.hex(name[row] ?? -1),
    ];
    return [...own, said, table.cycles().includes(row), [...table.ancestorsOf([ids.get(row)])]];
  });
}

const isQuick = (line: string): boolean => {
  const table = new EvaluationTable();
  table.add(PREV, JSON.parse(GENESIS));
  return table.addSpan(...pieceWith(Buffer.from(line)));
};
function agrees(bytes: Buffer): void {
  expect(shown(bytes, true)).toEqual(shown(bytes, false));
}

describe('lines of cycles that are read without parsing them', () => {
  it('takes what forge writes', () => {
    expect(isQuick(LINE)).toBe(true);
    expect(matchPlainCycle(...pieceWith(Buffer.from(LINE)))).toMatchObject({
      n: 2,
      cycle: 1,
      environment_valid: true,
    });
    expect(isQuick(JSON.stringify({ ...FIELDS, classification: null, environment_valid: null }))).toBe(true);
    expect(isQuick(JSON.stringify({ ...FIELDS, classification: 'FAILURE', patterns: [] }))).toBe(true);
    agrees(Buffer.from(LINE));
  });

  it.each([
    ['white space', LINE.replace(':1,', ': 1,')],
    ['a field twice', LINE.replace('"kind":"cycle"', '"kind":"cycle","kind":"note"')],
    ['patterns twice', LINE.replace(/\}$/, ',"patterns":[]}')],
    ['a name with an escape', LINE.replace('"key"', '"k\\u0069nd"')],
    ['a redacted line', LINE.replace('"key"', '"redacted"')],
    ['padding', LINE.replace('"key"', '"pad"')],
    ['another record before it', LINE.replace(PREV, recordId('other'))],
    ['a longer link', LINE.replace(PREV, `${PREV}0`)],
    ['other heads', LINE.replace('"seen":[]', `"seen":["${recordId('head')}"]`)],
    ['an execution in capitals', LINE.replace(FIELDS.execution, FIELDS.execution.toUpperCase())],
    ['an execution that is too long', LINE.replace(FIELDS.execution, `${FIELDS.execution}0`)],
    ['no execution', JSON.stringify({ ...FIELDS, execution: null })],
    ['a violation', JSON.stringify({ ...FIELDS, governance_violations: ['x'] })],
    ['a time that is none', JSON.stringify({ ...FIELDS, at: 'then' })],
    ['a cycle that is no whole number', JSON.stringify({ ...FIELDS, cycle: 1.5 })],
    ['a number that is too large', JSON.stringify({ ...FIELDS, n: 1e15 })],
    ['a number with a zero', LINE.replace('"n":2', '"n":02')],
    ['a comma too many', LINE.replace('"lint":true', '"lint":true,')],
    ['a control character', LINE.replace('T-1', 'T\u00011')],
    ['an escape that is none', LINE.replace('T-1', 'T\\x1')],
    ['a character that is not ASCII', LINE.replace('T-1', 'T-ü')],
    ['something behind it', `${LINE} `],
    ['another kind', LINE.replace('"cycle"', '"regression"')],
    ['another tier', LINE.replace('"evaluation"', '"execution"')],
    ['a pattern that is no object', JSON.stringify({ ...FIELDS, patterns: ['x'] })],
    ['a line that is long', LINE.replace('T-1', 'T'.repeat(9000))],
  ])('leaves %s to the parser', (_, line) => {
    expect(line).not.toBe(LINE);
    expect(isQuick(line)).toBe(false);
  });

  it('takes what forge writes beside lines that are not ASCII', () => {
    const table = new EvaluationTable();
    table.add(PREV, JSON.parse(GENESIS));
    expect(table.addSpan(...pieceWith(Buffer.from(LINE), '{"pattern":"Größe"}'))).toBe(true);
    expect(table.ids.get(1)).toBe(recordId(LINE));
  });

  it('does not read on into the next line', () => {
    const half = LINE.slice(0, LINE.indexOf('T-1'));
    const [piece, start] = pieceWith(Buffer.from(`${half}\n${LINE}`));
    expect(matchPlainCycle(piece, start, start + half.length)).toBe(null);
  });

  it('knows the same of a line whose bytes are no UTF-8', () => {
    const bytes = Buffer.from(LINE);
    for (const place of ['T-1', AT, PREV, FIELDS.execution, 'Retry', 'SUCCESS'])
      for (const byte of [0x80, 0xc3, 0xff]) {
        const broken = Buffer.from(bytes);
        broken[bytes.indexOf(place) + 1] = byte;
        agrees(broken);
      }
  });

  const scalar = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true }),
    fc.boolean(),
    fc.constant(null),
  );
  const value = fc.oneof(scalar, fc.array(scalar), fc.dictionary(fc.string(), scalar), fc.jsonValue());
  const pattern = fc.record(
    { pattern: fc.oneof(fc.string(), scalar), scope: fc.string(), holds: scalar, other: scalar },
    { requiredKeys: [] },
  );
  const record = fc.record(
    {
      n: fc.oneof(fc.nat(), value),
      prev: fc.constantFrom(PREV, null, recordId('x')),
      at: fc.oneof(fc.date({ noInvalidDate: true }).map(String), fc.constant(AT), scalar),
      session: value,
      kind: fc.constantFrom('cycle', 'note'),
      cycle: fc.oneof(fc.nat(), value),
      execution: fc.constantFrom(recordId('a'), null, 'a'),
      classification: fc.oneof(fc.constantFrom('SUCCESS', 'PARTIAL_SUCCESS', 'FAILURE'), scalar),
      environment_valid: fc.oneof(fc.boolean(), value),
      governance_violations: fc.oneof(fc.constant([]), value),
      quality_signals: value,
      evidence: value,
      patterns: fc.oneof(fc.array(pattern), fc.constant(PATTERNS)),
    },
    { requiredKeys: [] },
  );

  it('knows the same as the parser of any record', () => {
    fc.assert(
      fc.property(record, (fields) => {
        agrees(Buffer.from(JSON.stringify({ ...FIELDS, ...fields })));
      }),
      {
        numRuns: 1000,
      },
    );
  });

  it('knows the same as the parser of a line in which anything was changed', () => {
    const bytes = Buffer.from(LINE);
    const patch = fc.constantFrom(
      '',
      ' ',
      '"',
      '\\',
      ',',
      ':',
      '{',
      '}',
      '[',
      ']',
      '0',
      '-',
      '\n',
      'é',
      '\\u0041',
      'null',
    );
    const change = fc.tuple(fc.nat(bytes.length), fc.nat(3), patch);
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
        let line = bytes;
        for (const [at, length, text] of changes)
          line = Buffer.concat([line.subarray(0, at), Buffer.from(text), line.subarray(at + length)]);
        agrees(line);
      }),
      { numRuns: 5000 },
    );
  });
});
