import { describe, expect, it } from 'vitest';
import {
  ANY_TASK,
  idOf,
  idsOf,
  knownLearnings,
  LEARNED_LIST,
  type NewLearning,
} from '../../src/knowledge/rules.js';

const now = '2026-03-01T10:00:00.000Z';
const success: NewLearning = { kind: 'success', context: 'Adding a subject', approach: 'Run the tests' };
const failed: NewLearning = {
  kind: 'failure',
  context: 'Direct import',
  issue: 'Needs serde',
  resolution: 'Add serde',
};
const invariant: NewLearning = { kind: 'invariant', text: 'Never use Blake3' };
const all = [success, failed, invariant].map((entry) => ({ ...entry, learned_at: now }));
const view = LEARNED_LIST.toView(all, null);

describe('knowledge.json', () => {
  it('KNO-01 computes the id of each entry from its content alone', () => {
    // sha256("invariant\0never use blake3") and so on, as sha256sum prints it.
    const ids = ['0f21443696', '246c94baba', '5b87aff2c2'];
    expect([...knownLearnings(all).keys()]).toEqual(ids);
    expect(idOf({ ...invariant, learned_at: '2030-01-01T00:00:00.000Z' } as NewLearning)).toBe(ids[2]);
    expect(JSON.stringify(view)).not.toContain(ids[0]);
  });

  it('KNO-01 distinguishes the same text in different fields', () => {
    const texts: NewLearning[] = [
      { kind: 'success', context: 'a', approach: 'b' },
      { kind: 'success', context: 'b', approach: 'a' },
      { kind: 'success', context: 'a b', approach: '' },
      { kind: 'failure', context: 'a', issue: 'b', resolution: '' },
      { kind: 'failure', context: 'a', issue: '', resolution: 'b' },
      { kind: 'invariant', text: 'a b' },
    ];
    expect(new Set(texts.map(idOf)).size).toBe(texts.length);
  });
});

describe('learning something again', () => {
  it.each(['Never use Blake2', 'Never use Blake3!', 'NeveruseBlake3'])(
    'KNO-01 takes %j as something else',
    (text) => {
      const { invariants } = LEARNED_LIST.toView([...all, { kind: 'invariant', text }], null);
      expect(invariants).toEqual(['Never use Blake3', text]);
    },
  );

  it('KNO-01 compares all parts of patterns', () => {
    expect(idOf({ ...success, approach: 'run THE tests.' })).toBe(idOf(success));
    expect(idOf({ ...success, approach: 'Do not' })).not.toBe(idOf(success));
    expect(idOf({ ...failed, issue: ' needs  serde ' })).toBe(idOf(failed));
    expect(idOf({ ...failed, resolution: '' })).not.toBe(idOf(failed));
  });

  it('KNO-01 a pattern of any task is known for one task, not the other way round', () => {
    const general = { ...success, context: ANY_TASK };
    expect(idsOf(success)).toContain(idOf(general));
    expect(idsOf(general)).not.toContain(idOf(success));
    expect(idsOf({ ...success, approach: 'Do not' })).not.toContain(idOf(general));
  });
});
