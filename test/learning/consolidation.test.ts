import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeEvidence, knowledgeId, type Proven, readProven } from '../../src/learning/proven.js';
import {
  countUncovered,
  coveredHeads,
  isLesson,
  type Plan,
  planConsolidation,
  recordsOf,
  weighEvidence,
  weighing,
} from '../../src/learning/rules.js';
import type { Identified, Memory } from '../../src/ledger/memory.js';
import { type LedgerRecord, recordId } from '../../src/ledger/record.js';

type Fields = Partial<Record<string, unknown>>;

const CLEAN = { classification: 'SUCCESS', environment_valid: true, governance_violations: [] };
const seen = (pattern: string, holds = true, scope = 'execution') => ({ pattern, scope, holds });

const identify = (record: object): Identified => ({
  id: recordId(JSON.stringify(record)),
  record: record as LedgerRecord,
});

/** Evaluation records in order; each names its own execution. */
const evaluations = (...cycles: Fields[]): Identified[] =>
  cycles.map((fields, i) =>
    identify({
      ...{ v: 1, tier: 'evaluation', n: i + 2, prev: null, seen: [], kind: 'cycle', cycle: i + 1 },
      at: `2026-03-01T10:00:${String(i % 60).padStart(2, '0')}.000Z`,
      execution: recordId(`execution ${i}`),
      ...CLEAN,
      ...fields,
    }),
  );

/** The knowledge records after a plan was written beside what there was. */
function written(before: readonly Identified[], plan: Plan, covers: string[] = []): Identified[] {
  const all = [...before];
  const ids: string[] = [];
  for (const draft of recordsOf(plan, { covers, cycles: 0, last_cycle: 0 })) {
    const body = typeof draft === 'function' ? draft({ n: 0, cycle: 0, ids }) : draft;
    const entry = identify({ v: 1, n: all.length + 2, prev: null, seen: [], ...body });
    ids.push(entry.id);
    all.push(entry);
  }
  return all;
}

const anywhere = (): boolean => true;
const read = (records: readonly Identified[]): Map<string, Proven> => readProven(records, anywhere);

const P = 'Retry the install once';
const three = [{ patterns: [seen(P)] }, { patterns: [seen(P)] }, { patterns: [seen(P)] }];
const plan = (evaluations: readonly Identified[], knowledge: readonly Identified[] = []): Plan =>
  planConsolidation({ evaluations, knowledge, has: anywhere });

describe('consolidation', () => {
  it('LTM-06 promotes what three clean cycles observed', () => {
    const partly = { ...three[0], classification: 'PARTIAL_SUCCESS' };
    const { promoted, rejected } = plan(evaluations(partly, ...three.slice(1)));
    expect(promoted.map(({ pattern }) => pattern)).toEqual([P]);
    expect(rejected).toEqual([]);
  });

  const doubtful = (fields: Fields): Fields[] => [...three.slice(1), { patterns: [seen(P)], ...fields }];
  it.each<[string, Fields[]]>([
    ['observed', three.slice(1)],
    ['classification', doubtful({ classification: 'FAILURE' })],
    ['verdict', doubtful({ classification: null })],
    ['verdict', doubtful({ classification: null, environment_valid: null })],
    ['classification', doubtful({ classification: 'REGRESSION' })],
    ['environment_valid', doubtful({ environment_valid: false })],
    ['environment_valid', doubtful({ environment_valid: null })],
    ['governance_violations', doubtful({ governance_violations: ['wrote memory'] })],
    ['governance_violations', doubtful({ governance_violations: undefined })],
    ['execution', doubtful({ execution: null })],
    ['observed,contradicted', [...three, { patterns: [seen(P, false)] }, { patterns: [seen(P)] }]],
    ['observed,contradicted', three.map(() => ({ patterns: [seen(P), seen(P, false)] }))],
    ['observed,contradicted', three.map(() => ({ patterns: [seen(P, false), seen(P)] }))],
    ['observed', [{ patterns: [seen(' ... ')] }]],
    ['fields', three.map(() => ({ patterns: [seen(' ... ')] }))],
    ['fields', three.map(() => ({ patterns: [seen(P, true, 'kitchen')] }))],
    ['fields', three.map((cycle) => ({ ...cycle, at: '' }))],
  ])('LTM-06 names the condition that fails: %s', (condition, cycles) => {
    const { promoted, rejected } = plan(evaluations(...cycles));
    expect(promoted).toEqual([]);
    expect(rejected[0]?.failed.join()).toBe(condition);
  });

  it('LTM-06 promotes despite other cycles that do not count, and counts a cycle by its clean evaluation', () => {
    const failed = { patterns: [seen(P)], classification: 'FAILURE' };
    expect(plan(evaluations(...three, failed)).promoted).toHaveLength(1);
    const execution = recordId('the same');
    const judgedTwice = [
      { ...failed, execution },
      { patterns: [seen(P), seen(`${P}.`)], execution },
    ];
    expect(plan(evaluations(...three.slice(1), ...judgedTwice)).promoted).toHaveLength(1);
  });

  it('LTM-06 counts distinct cycles: one with three evaluations counts once', () => {
    const execution = recordId('the same');
    const { promoted, rejected } = plan(evaluations(...three.map((cycle) => ({ ...cycle, execution }))));
    expect(promoted).toEqual([]);
    expect(rejected[0]).toMatchObject({ failed: ['observed'], observed: 1, qualified: 1 });
    // A doubtful evaluation between clean ones changes nothing.
    const [clean] = three.map((cycle) => ({ ...cycle, execution }));
    const doubted = plan(evaluations({ ...clean }, { ...clean, environment_valid: false }, { ...clean }));
    expect(doubted.rejected[0]).toMatchObject({ observed: 1, qualified: 1 });
  });

  it('LTM-06 reads no pattern from fields of another shape, nor from another kind of record', () => {
    const odd = [{ patterns: [{ pattern: P }, { scope: 'execution' }, { pattern: 7, scope: 'execution' }] }];
    const other = three.map((cycle) => ({ ...cycle, kind: 'assessment' }));
    expect(plan(evaluations(...odd, ...other))).toMatchObject({ promoted: [], rejected: [] });
  });

  it('LTM-06 a cycle without a number counts as 0, and a later spelling keeps the first', () => {
    const [first, ...rest] = three;
    const [promotion] = plan(evaluations({ ...first, cycle: 'one' }, ...rest)).promoted;
    expect(promotion?.evidence_cycles).toEqual([0, 2, 3]);
  });

  it('LTM-08 counts cycles with a verdict that no consolidation covers, up to the ten that make one due', () => {
    const cycles = evaluations(...Array.from({ length: 12 }, () => ({ patterns: [] })));
    const covered = (count: number) => (id: string) =>
      cycles.slice(0, count).some((cycle) => cycle.id === id);
    const counts = [12, 9, 3, 0].map((count) => countUncovered(cycles, covered(count)));
    expect(counts).toEqual([0, 3, 9, 10]);
    const execution = recordId('the same');
    const others = evaluations(
      ...[{ execution }, { execution }, { classification: null }, { kind: 'assessment' }],
    );
    expect(countUncovered(others, () => false)).toBe(1);
    const heads = [
      identify({ kind: 'consolidation', covers: ['a', 7, 'b'] }),
      identify({ kind: 'consolidation' }),
      identify({ kind: 'knowledge', covers: ['c'] }),
    ];
    expect(coveredHeads(heads)).toEqual(['a', 'b']);
  });

  it('LTM-06 a lesson is what only ends of sessions report', () => {
    const session = '2026-03-01-session-002';
    const end = { patterns: [seen(P)], session, key: '2026-03-01-002' };
    const lesson = (...cycles: Fields[]): boolean[] =>
      [...weighEvidence(evaluations(...cycles), { has: anywhere }).values()].map(isLesson);
    expect(lesson(end, end)).toEqual([true]);
    expect(lesson(end, { ...end, key: undefined })).toEqual([false]);
    expect(lesson({ ...end, session: undefined })).toEqual([false]);
  });

  it('LTM-09 records a consolidation beside its promotions, with what each has in tests', () => {
    const run = { evidence: [{ exit_code: 0 }] };
    const first = plan(evaluations({ patterns: [seen(P, false)] }, ...three.map((c) => ({ ...c, ...run }))));
    const [promotion, consolidation] = written([], first, ['head']).map(({ record }) => record);
    const id = knowledgeId('execution', P);
    expect(promotion).toMatchObject({ tier: 'knowledge', kind: 'knowledge', knowledge_id: id });
    expect(consolidation).toMatchObject({
      ...{ tier: 'knowledge', kind: 'consolidation', covers: ['head'], cycles: 0, last_cycle: 0 },
      ...{ promoted: [id], contested: [], reinstated: [], rejected: 0 },
      ...{ tested: { [identify(promotion as object).id]: 3 }, answered: first.answered },
    });
    expect(first.answered).toHaveLength(1);
    expect(written([], plan(evaluations(...three)))[1]?.record).not.toHaveProperty('answered');
  });

  it('LTM-06 ignores an evaluation without its execution record', () => {
    const cycles = evaluations(...three);
    const has = (id: string): boolean => id !== cycles[1]?.record.execution;
    const { promoted, rejected } = planConsolidation({ evaluations: cycles, knowledge: [], has });
    expect(promoted).toEqual([]);
    expect(rejected[0]?.failed).toEqual(['execution']);
  });

  it('LTM-14 does not weigh evaluations before a reset of the knowledge', () => {
    const cycles = evaluations(...three, ...three);
    const before = new Set(cycles.slice(0, 4).map(({ id }) => id));
    const memory = {
      graph: { ancestorsOf: (heads: string[]) => (heads[0] === 'reset' ? before : new Set()), has: anywhere },
      resets: (tier: string) => (tier === 'knowledge' ? ['reset'] : []),
    };
    const since = weighing(memory as unknown as Memory);
    const { rejected } = planConsolidation({ evaluations: cycles, knowledge: [], ...since });
    expect(rejected).toMatchObject([{ pattern: P, observed: 2, qualified: 2 }]);
  });

  it('LTM-06 distinguishes tested from reported evidence', () => {
    const run = { argv: ['npm', 'test'], exit_code: 0 };
    const tested = [[run], [{ ...run, exit_code: 1 }], [], undefined, [run, { ...run, exit_code: 1 }]];
    const cycles = evaluations(...tested.map((evidence) => ({ patterns: [seen(P)], evidence })));
    const [known] = read(written([], plan(cycles))).values();
    expect(known).toMatchObject({ status: 'valid', tested: 2, reported: 3 });
    expect(describeEvidence(known as Proven)).toBe('tested in 2 cycles, reported 3 times');
    const [typed] = read(written([], plan(evaluations(...three)))).values();
    expect(describeEvidence(typed as Proven)).toBe('reported 3 times');
  });

  it('LTM-06 keeps the counts of its own evidence when another clone promoted the same', () => {
    const run = { evidence: [{ argv: ['npm', 'test'], exit_code: 0 }] };
    const typed = written([], plan(evaluations(...three)));
    const both = written(typed, plan(evaluations(...three.map((cycle) => ({ ...cycle, ...run })))));
    expect([...read(both).values()]).toMatchObject([{ tested: 0, reported: 3 }]);
    expect([...read(both.slice(typed.length)).values()]).toMatchObject([{ tested: 3, reported: 0 }]);
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

  it('LTM-07 names the newest 100 cycles of its evidence', () => {
    const cycles = evaluations(...Array.from({ length: 101 }, () => ({ patterns: [seen(P)] })));
    const [promotion] = plan(cycles).promoted;
    expect(promotion?.evidence).toEqual(cycles.slice(1).map(({ id }) => id));
    expect(promotion?.evidence_cycles.slice(0, 2)).toEqual([2, 3]);
  });

  it('LTM-07 recognizes a pattern in any spelling, and separates scopes', () => {
    const ways = ['retry the install once', '  Retry  the\tinstall once. ', 'ＲＥＴＲＹ the install once!'];
    const { promoted } = plan(evaluations(...ways.map((way) => ({ patterns: [seen(way)] }))));
    expect(promoted.map(({ pattern }) => pattern)).toEqual([ways[0]]);
    expect(new Set(ways.map((way) => knowledgeId('execution', way))).size).toBe(1);
    expect(knowledgeId('environment', P)).not.toBe(knowledgeId('execution', P));
  });

  it('LTM-07 normalizes a pattern with 400,000 marks in linear time', () => {
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
    expect(read(after).get(knowledgeId('execution', P))).toMatchObject({ status: 'contested', pattern: P });
    expect(plan(cycles, after).contested).toEqual([]);
    // Two more clean cycles are not enough, and it says so. What is valid and has no news is not mentioned.
    const more = plan(
      evaluations(...three, { patterns: [seen(P, false)], classification: 'FAILURE' }, ...three.slice(1)),
      after,
    );
    expect(more).toMatchObject({
      reinstated: [],
      rejected: [{ pattern: P, failed: ['observed', 'contradicted'] }],
    });
    expect(plan(before, known).rejected).toEqual([]);
  });

  it('LTM-09 does not contest later what was known when it was promoted', () => {
    const cycles = evaluations({ patterns: [seen(P, false)] }, ...three);
    const first = plan(cycles);
    expect(first.promoted).toHaveLength(1);
    const contradicts = [cycles[0]?.id];
    expect(first.answered).toEqual([{ knowledge_id: knowledgeId('execution', P), contradicts }]);
    expect(plan(cycles, written([], first))).toMatchObject({ contested: [], rejected: [] });
  });

  it('LTM-09 ignores contradictions from an invalid environment', () => {
    const known = written([], plan(evaluations(...three)));
    const cycles = evaluations(...three, { patterns: [seen(P, false)], environment_valid: false });
    expect(plan(cycles, known).contested).toEqual([]);
  });

  it('LTM-09 reinstates after three clean cycles, and a contest from another clone still counts', () => {
    const known = written([], plan(evaluations(...three)));
    const contradicted = [...three, { patterns: [seen(P, false)] }];
    const contested = written(known, plan(evaluations(...contradicted), known));
    const cycles = evaluations(...contradicted, ...three);
    const third = plan(cycles, contested);
    expect(third.reinstated).toMatchObject([{ pattern: P, evidence: cycles.slice(4).map(({ id }) => id) }]);
    const back = written(contested, third);
    const id = knowledgeId('execution', P);
    expect(read(back).get(id)?.status).toBe('valid');
    const elsewhere = written([], {
      ...third,
      reinstated: [],
      contested: [{ knowledge_id: id, pattern: P, scope: 'execution', contradicts: [recordId('elsewhere')] }],
    });
    const merged = [...back, ...elsewhere.filter(({ record }) => record.kind === 'contested')];
    expect(read(merged).get(id)?.status).toBe('contested');
  });
});

describe('knowledge whose evidence is missing here', () => {
  const cycles = evaluations(...three);
  const known = written([], plan(cycles));
  const id = knowledgeId('execution', P);
  const evidence = cycles.map((cycle) => cycle.id);
  const isHere =
    (count: number) =>
    (record: string): boolean =>
      evidence.slice(0, count).includes(record);

  it('LTM-06 does not count, and is promoted again on evidence that is here', () => {
    expect(readProven(known, isHere(3)).get(id)?.status).toBe('valid');
    expect(readProven(known, isHere(2)).has(id)).toBe(false);
    const more = evaluations(...three, ...three);
    const has = (record: string): boolean => !evidence.includes(record);
    const again = planConsolidation({ evaluations: more.slice(3), knowledge: known, has });
    expect(again.promoted.map(({ pattern }) => pattern)).toEqual([P]);
    expect(readProven(written(known, again), has).get(id)?.status).toBe('valid');
  });

  it("LTM-14 a human's decision counts only with its audit record", () => {
    const invalidated = [...known, identify({ kind: 'invalidated', knowledge_id: id, audit: 'a1' })];
    const has = (record: string): boolean => isHere(3)(record) || record === 'a1';
    expect(readProven(invalidated, has).get(id)?.status).toBe('invalid');
    expect(readProven(invalidated, isHere(3)).get(id)?.status).toBe('valid');
    expect(planConsolidation({ evaluations: cycles, knowledge: invalidated, has: anywhere })).toMatchObject({
      promoted: [],
      rejected: [{ knowledge_id: id, failed: ['invalidated'] }],
    });
    const settles = invalidated.slice(-1).map((entry) => entry.id);
    const correction = identify({ kind: 'correction', knowledge_id: id, audit: 'a2', settles });
    const both = [...invalidated, correction];
    expect(readProven(both, has).get(id)?.status).toBe('invalid');
    expect(readProven(both, (record) => has(record) || record === 'a2').get(id)?.status).toBe('valid');
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
  it('LTM-08 is idempotent: after the write, the same evidence promotes and contests nothing', () => {
    fc.assert(
      fc.property(fc.array(cycleFields, { maxLength: 25 }), fc.nat(25), (cycles, cut) => {
        const first = written([], plan(evaluations(...cycles.slice(0, cut))));
        const second = written(first, plan(evaluations(...cycles), first));
        expect(plan(evaluations(...cycles), second)).toMatchObject({ promoted: [], contested: [] });
      }),
      { numRuns: 300 },
    );
  });

  it('LTM-06 promotes nothing with fewer than three clean cycles, in any history', () => {
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
