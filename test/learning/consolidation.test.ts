import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EvaluationTable } from '../../src/learning/evaluation-table.js';
import type { Identified } from '../../src/learning/evidence.js';
import { knowledgeId } from '../../src/learning/pattern.js';
import { readProven } from '../../src/learning/proven.js';
import {
  countUncovered,
  coveredHeads,
  digestPlan,
  type Plan,
  planConsolidation,
  recordsOf,
} from '../../src/learning/rules.js';
import { type LedgerRecord, recordId } from '../../src/ledger/rules/record.js';

type Fields = Partial<Record<string, unknown>>;

const CLEAN = { classification: 'SUCCESS', environment_valid: true, governance_violations: [] };
const seen = (pattern: string, holds = true, scope = 'execution') => ({ pattern, scope, holds });

/** A chain of evaluation records; each names its own execution. */
function evaluations(...cycles: Fields[]): Identified[] {
  let prev: string | null = null;
  return cycles.map((fields, i) => {
    const n = i + 2;
    const execution = recordId(`execution ${i}`);
    const at = `2026-03-01T10:00:${String(i % 60).padStart(2, '0')}.000Z`;
    const record = {
      v: 1,
      tier: 'evaluation',
      n,
      prev,
      seen: [],
      at,
      kind: 'cycle',
      cycle: i + 1,
      execution,
      ...CLEAN,
      ...fields,
    };
    const id = recordId(JSON.stringify(record));
    prev = id;
    return { id, record: record as unknown as LedgerRecord };
  });
}

/** The knowledge ledger after a plan was written beside what it had. */
function written(before: readonly Identified[], plan: Plan, covers: string[] = []): Identified[] {
  const added = recordsOf(plan, { covers, cycles: 0, last_cycle: 0 }).map((body, i) => {
    const record = { v: 1, tier: 'knowledge', n: before.length + i + 2, prev: null, seen: [], ...body };
    return { id: recordId(JSON.stringify(record)), record: record as unknown as LedgerRecord };
  });
  return [...before, ...added];
}

const P = 'Retry the install once';
const three = [{ patterns: [seen(P)] }, { patterns: [seen(P)] }, { patterns: [seen(P)] }];
const plan = (cycles: readonly Identified[], knowledge: readonly Identified[] = []): Plan =>
  planConsolidation({ evaluations: tableOf(cycles), knowledge }).plan;

function tableOf(cycles: readonly Identified[]): EvaluationTable {
  const table = new EvaluationTable();
  for (const { id, record } of cycles) table.add(id, record);
  return table;
}

describe('consolidation', () => {
  it('LTM-06 promotes what three clean cycles observed', () => {
    const { promoted, rejected } = plan(evaluations(...three));
    expect(promoted.map(({ pattern }) => pattern)).toEqual([P]);
    expect(rejected).toEqual([]);
  });

  const FAILING = [
    ['observed', three.slice(1)],
    ['classification', [...three.slice(1), { patterns: [seen(P)], classification: 'FAILURE' }]],
    ['classification', [...three.slice(1), { patterns: [seen(P)], classification: null }]],
    ['classification', [...three.slice(1), { patterns: [seen(P)], classification: 'REGRESSION' }]],
    ['environment_valid', [...three.slice(1), { patterns: [seen(P)], environment_valid: false }]],
    ['environment_valid', [...three.slice(1), { patterns: [seen(P)], environment_valid: null }]],
    [
      'governance_violations',
      [...three.slice(1), { patterns: [seen(P)], governance_violations: ['wrote memory'] }],
    ],
    ['execution', [...three.slice(1), { patterns: [seen(P)], execution: null }]],
    ['contradicted', [...three, { patterns: [seen(P, false)] }, { patterns: [seen(P)] }]],
  ] as const;
  it.each(FAILING)('LTM-06 names the condition that fails: %s', (condition, cycles) => {
    const { promoted, rejected } = plan(evaluations(...cycles));
    expect(promoted).toEqual([]);
    expect(rejected[0]?.failed).toContain(condition);
  });

  it('LTM-06 counts distinct cycles: one that was evaluated three times is one', () => {
    const execution = recordId('the same');
    const { promoted, rejected } = plan(evaluations(...three.map((cycle) => ({ ...cycle, execution }))));
    expect(promoted).toEqual([]);
    expect(rejected[0]).toMatchObject({ failed: ['observed'], observed: 1, qualified: 1 });
  });

  it('LTM-06 counts no cycle again that was in doubt between two clean evaluations of it', () => {
    const execution = recordId('the same');
    const [clean] = three.map((cycle) => ({ ...cycle, execution }));
    const { rejected } = plan(
      evaluations({ ...clean }, { ...clean, environment_valid: false }, { ...clean }),
    );
    expect(rejected[0]).toMatchObject({ observed: 1, qualified: 1 });
  });

  it('LTM-06 learns from partial success as from success', () => {
    const cycles = three.map((cycle) => ({ ...cycle, classification: 'PARTIAL_SUCCESS' }));
    expect(plan(evaluations(...cycles)).promoted).toHaveLength(1);
  });

  it('LTM-06 does not believe an evaluation whose cycle nobody recorded', () => {
    const cycles = evaluations(...three);
    const gone = cycles[1]?.record.execution;
    const table = tableOf(cycles);
    const { promoted, rejected } = planConsolidation({
      evaluations: table,
      knowledge: [],
      hasRun: (execution) => table.names.hex(execution) !== gone,
    }).plan;
    expect(promoted).toEqual([]);
    expect(rejected[0]?.failed).toEqual(['execution']);
  });

  it("LTM-07 writes exactly LTM's fields and the ids of the evidence", () => {
    const cycles = evaluations(...three);
    const [promotion] = plan(cycles).promoted;
    expect(promotion).toEqual({
      knowledge_id: knowledgeId('execution', P),
      pattern: P,
      evidence_cycles: [1, 2, 3],
      confidence: 'high',
      scope: 'execution',
      created_at: '2026-03-01T10:00:02.000Z',
      evidence: cycles.map(({ id }) => id),
    });
  });

  it.each([
    ['an empty pattern', { patterns: [seen(' ... ')] }],
    ['a scope that is none', { patterns: [seen(P, true, 'everything')] }],
    ['no time', { patterns: [seen(P)], at: undefined }],
  ])('LTM-07 rejects a promotion with %s', (_, cycle) => {
    const { promoted, rejected } = plan(evaluations(cycle, cycle, cycle));
    expect(promoted).toEqual([]);
    expect(rejected[0]?.failed).toEqual(['fields']);
  });

  it('LTM-07 knows a pattern however it is written, and tells scopes apart', () => {
    const ways = ['retry the install once', '  Retry  the\tinstall once. ', 'ＲＥＴＲＹ the install once!'];
    const { promoted } = plan(evaluations(...ways.map((way) => ({ patterns: [seen(way)] }))));
    expect(promoted.map(({ pattern }) => pattern)).toEqual([ways[0]]);
    expect(new Set(ways.map((way) => knowledgeId('execution', way))).size).toBe(1);
    expect(knowledgeId('environment', P)).not.toBe(knowledgeId('execution', P));
  });

  it('LTM-07 normalises a pattern of 400,000 marks without trying each run of them again', () => {
    const marks = '.'.repeat(400_000);
    expect(knowledgeId('execution', `a${marks}x${marks}`)).toBe(knowledgeId('execution', `a${marks}x`));
  });

  it('LTM-09 contests what new evidence contradicts, once, and keeps the original', () => {
    const before = evaluations(...three);
    const known = written([], plan(before));
    const cycles = evaluations(...three, { patterns: [seen(P, false)], classification: 'FAILURE' });
    const second = plan(cycles, known);
    expect(second.contested).toMatchObject([{ pattern: P, contradicts: [cycles[3]?.id] }]);
    const after = written(known, second);
    expect(readProven(after).get(knowledgeId('execution', P))).toMatchObject({
      status: 'contested',
      pattern: P,
    });
    expect(plan(cycles, after).contested).toEqual([]);
  });

  it('LTM-09 lets a broken environment contradict nothing', () => {
    const known = written([], plan(evaluations(...three)));
    const cycles = evaluations(...three, { patterns: [seen(P, false)], environment_valid: false });
    expect(plan(cycles, known).contested).toEqual([]);
  });

  it('LTM-09 reinstates after three clean cycles, and a contest nobody knew of then stands', () => {
    const known = written([], plan(evaluations(...three)));
    const contradicted = [...three, { patterns: [seen(P, false)] }];
    const contested = written(known, plan(evaluations(...contradicted), known));
    const cycles = evaluations(...contradicted, ...three);
    const third = plan(cycles, contested);
    expect(third.reinstated).toMatchObject([{ pattern: P, evidence: cycles.slice(4).map(({ id }) => id) }]);
    const back = written(contested, third);
    const id = knowledgeId('execution', P);
    expect(readProven(back).get(id)?.status).toBe('valid');
    const elsewhere = written([], {
      ...third,
      reinstated: [],
      contested: [{ knowledge_id: id, pattern: P, scope: 'execution', contradicts: [recordId('elsewhere')] }],
    });
    const merged = [...back, ...elsewhere.filter(({ record }) => record.kind === 'contested')];
    expect(readProven(merged).get(id)?.status).toBe('contested');
  });

  it('LTM-08 two machines that consolidate the same window promote one piece of knowledge', () => {
    const cycles = evaluations(...three);
    const [one, other] = [plan(cycles), plan(cycles)];
    expect(digestPlan(one)).toBe(digestPlan(other));
    const heads = [cycles.at(-1)?.id ?? ''];
    const merged = [...written([], one, heads), ...written([], other, heads)];
    expect([...readProven(merged).values()]).toHaveLength(1);
    expect(plan(cycles, merged)).toMatchObject({ promoted: [], contested: [], reinstated: [] });
    expect(countUncovered(tableOf(cycles), coveredHeads(merged))).toBe(0);
  });

  it('LTM-08 counts cycles that no earlier consolidation reaches through the graph, whatever their numbers', () => {
    const cycles = evaluations(...three, ...three).map(({ id, record }) => ({
      id,
      record: { ...record, cycle: 7 },
    }));
    expect(countUncovered(tableOf(cycles), [cycles[3]?.id ?? ''])).toBe(2);
    expect(countUncovered(tableOf(cycles), ['f'.repeat(64)])).toBe(6);
  });
});

const cycleFields = fc.record({
  classification: fc.constantFrom('SUCCESS', 'PARTIAL_SUCCESS', 'FAILURE', 'GOVERNANCE_VIOLATION', null),
  environment_valid: fc.constantFrom(true, true, true, false, null),
  governance_violations: fc.constantFrom([], [], [], ['x']),
  patterns: fc.array(
    fc.record({
      pattern: fc.constantFrom('a', 'A.', 'b', 'c'),
      scope: fc.constantFrom('execution', 'environment'),
      holds: fc.constantFrom(true, true, true, false),
    }),
    { maxLength: 3 },
  ),
});

describe('the plan of a consolidation', () => {
  it('LTM-08 is the same for any order of lines and any number of copies', () => {
    fc.assert(
      fc.property(
        fc.array(cycleFields, { minLength: 1, maxLength: 25 }).chain((cycles) => {
          const records = evaluations(...cycles);
          const copies = fc.shuffledSubarray([...records, ...records], { minLength: records.length * 2 });
          return fc.tuple(fc.constant(records), copies);
        }),
        ([records, copies]) => {
          expect(JSON.stringify(plan(copies))).toBe(JSON.stringify(plan(records)));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('LTM-08 does nothing twice: after it was written, the same evidence promotes and contests nothing', () => {
    fc.assert(
      fc.property(fc.array(cycleFields, { maxLength: 25 }), fc.nat(25), (cycles, cut) => {
        const first = written([], plan(evaluations(...cycles.slice(0, cut))));
        const second = written(first, plan(evaluations(...cycles), first));
        expect(plan(evaluations(...cycles), second)).toMatchObject({ promoted: [], contested: [] });
      }),
      { numRuns: 300 },
    );
  });

  it('LTM-06 promotes nothing with fewer than three clean cycles, whatever else there is', () => {
    fc.assert(
      fc.property(fc.array(cycleFields, { maxLength: 25 }), (cycles) => {
        const records = evaluations(...cycles);
        const byId = new Map(records.map(({ id, record }) => [id, record]));
        for (const { evidence, knowledge_id } of plan(records).promoted) {
          expect(new Set(evidence).size).toBeGreaterThanOrEqual(3);
          for (const id of evidence) {
            const record = byId.get(id) as LedgerRecord;
            expect(['SUCCESS', 'PARTIAL_SUCCESS']).toContain(record.classification);
            expect(record.environment_valid).toBe(true);
            expect(record.governance_violations).toEqual([]);
            const shown = (record.patterns as ReturnType<typeof seen>[]).map(({ scope, pattern }) =>
              knowledgeId(scope, pattern),
            );
            expect(shown).toContain(knowledge_id);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
