import { describe, expect, it } from 'vitest';
import { decodeDocument, encodeDocument } from '../../src/core/schema.js';
import {
  ANY_TASK,
  forget,
  KNOWLEDGE,
  LEARNED_LIST,
  learn,
  listLearnings,
  type NewLearning,
  type StoredLearning,
  searchLearnings,
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
const all = [success, failed, invariant].reduce<StoredLearning[]>(
  (stored, entry) => learn(stored, entry, now).stored,
  [],
);
const view = LEARNED_LIST.toView(all, null);

describe('knowledge.json', () => {
  it('KNO-01 has RFC-9060 §3.1’s exact shape', () => {
    expect(view).toEqual({
      schema_version: '1.0',
      patterns: {
        successful: [{ context: 'Adding a subject', approach: 'Run the tests', learned_at: now }],
        failed: [
          { context: 'Direct import', issue: 'Needs serde', resolution: 'Add serde', learned_at: now },
        ],
      },
      invariants: ['Never use Blake3'],
    });
    expect(decodeDocument(KNOWLEDGE, encodeDocument(view), 'knowledge.json')).toEqual(view);
  });

  it('KNO-01 computes the id of each entry from its content alone', () => {
    // sha256("invariant\0never use blake3") and so on, as sha256sum prints it.
    const ids = ['0f21443696', '246c94baba', '5b87aff2c2'];
    expect(listLearnings(all).map(({ id }) => id)).toEqual(ids);
    const later = learn([], invariant, '2030-01-01T00:00:00.000Z');
    expect(later.learning.id).toBe(ids[2]);
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
    expect(new Set(texts.map((entry) => learn([], entry, now).learning.id)).size).toBe(texts.length);
  });
});

describe('learning something again', () => {
  it.each([
    'Never use Blake3',
    'never USE blake3',
    '  Never   use\n\tBlake3  ',
    'Never use Blake3.',
    'Never use Blake3 . ',
    'N\u0065ver use Blake3',
  ])('KNO-01 knows %j already, and keeps the words that stand there', (text) => {
    const again = learn(all, { kind: 'invariant', text }, '2030-01-01T00:00:00.000Z');
    expect(again.duplicate).toBe(true);
    expect(again.stored).toEqual(all);
    expect(again.learning).toMatchObject({ text: 'Never use Blake3' });
  });

  it('KNO-01 recognizes it in any Unicode normalization', () => {
    const { stored } = learn([], { kind: 'invariant', text: 'Caf\u00e9' }, now);
    expect(learn(stored, { kind: 'invariant', text: 'Cafe\u0301' }, now).duplicate).toBe(true);
  });

  it.each(['Never use Blake2', 'Never use Blake3!', 'Never use Blake3..', 'NeveruseBlake3'])(
    'KNO-01 takes %j as something else',
    (text) => {
      const other = learn(all, { kind: 'invariant', text }, now);
      expect(other.duplicate).toBe(false);
      expect(LEARNED_LIST.toView(other.stored, null).invariants).toEqual(['Never use Blake3', text]);
    },
  );

  it('KNO-01 compares all parts of patterns', () => {
    expect(learn(all, { ...success, approach: 'run THE tests.' }, now).duplicate).toBe(true);
    expect(learn(all, { ...success, approach: 'Do not' }, now).duplicate).toBe(false);
    expect(learn(all, { ...failed, issue: ' needs  serde ' }, now).duplicate).toBe(true);
    expect(learn(all, { ...failed, resolution: '' }, now).duplicate).toBe(false);
  });

  it('KNO-01 a pattern of any task is known for one task, not the other way round', () => {
    const general = { ...success, context: ANY_TASK };
    const { stored, learning } = learn([], general, now);
    expect(learn(stored, success, now)).toEqual({ stored, learning, duplicate: true });
    expect(learn(learn([], success, now).stored, general, now).duplicate).toBe(false);
    expect(learn(stored, { ...success, approach: 'Do not' }, now).duplicate).toBe(false);
  });
});

describe('forgetting', () => {
  it.each([0, 1, 2])('KNO-01 takes out entry %i alone', (n) => {
    const learnings = listLearnings(all);
    const left = listLearnings(forget(all, learnings[n]?.id ?? ''));
    expect(left).toEqual(learnings.toSpliced(n, 1));
  });

  it('KNO-01 removes every spelling of it, as two branches may have stored them', () => {
    const texts = ['Never use Blake3', 'never use blake3.', 'Other'];
    const stored = texts.map((text, n) => ({
      kind: 'invariant' as const,
      text,
      learned_at: `2026-0${n + 1}`,
    }));
    expect(listLearnings(stored)).toHaveLength(2);
    expect(forget(stored, listLearnings(all)[2]?.id ?? '').map(({ text }) => text)).toEqual(['Other']);
  });
});

describe('searching', () => {
  it.each([
    ['serde', ['failure']],
    ['SERDE import', ['failure']],
    ['blake', ['invariant']],
    ['the a', ['success']],
    ['serde blake', []],
    ['', ['success', 'failure', 'invariant']],
    ['.*', []],
  ])('KNO-01 finds for %j every entry with all its words: %j', (query, kinds) => {
    expect(searchLearnings(listLearnings(all), query).map(({ kind }) => kind)).toEqual(kinds);
  });
});
