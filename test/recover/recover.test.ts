import { describe, expect, it } from 'vitest';
import type { ProvedCheck } from '../../src/checkpoint/run.js';
import { type Divergence, decide, type Facts, judgeDivergence } from '../../src/recover/rules.js';

const NONE: Divergence = {
  commits: 0,
  files: 0,
  insertions: 0,
  deletions: 0,
  untracked: 0,
  untracked_files: [],
  changed_files: [],
  uncommitted: 0,
  features_lost: [],
  ledger: 'intact',
  branch: 'descendant',
  operation: null,
};

const checksOf = (...states: (ProvedCheck['state'] | 'passed at HEAD')[]): ProvedCheck[] =>
  states.map((state, i) => ({
    name: `C${i}`,
    kind: 'feature',
    ...(state === 'passed at HEAD' ? { state: 'failed', passedAtHead: true } : { state }),
  }));

const judge = (change: Partial<Divergence>, facts: Partial<Facts> = {}) =>
  judgeDivergence({
    divergence: { ...NONE, ...change },
    checkpoint: 'ok',
    isShallow: false,
    checks: checksOf('passed'),
    isHeadSame: false,
    ...facts,
  });

describe('the table that decides', () => {
  it.each<[Partial<Divergence>, Partial<Facts>, string, string]>([
    [{}, {}, 'continue', ''],
    [{ files: 9999, commits: 999, untracked: 99 }, {}, 'continue', ''],
    [{ files: 1 }, { checks: checksOf('failed') }, 'rollback', 'failing: 1, limit 0'],
    [{ files: 1, uncommitted: 1 }, { checks: checksOf('failed'), isHeadSame: true }, 'continue', ''],
    [{ files: 1, uncommitted: 1 }, { checks: checksOf('passed at HEAD') }, 'continue', ''],
    [{ files: 1 }, { checks: checksOf('failed'), isHeadSame: true }, 'rollback', 'failing: 1, limit 0'],
    [{ files: 1, untracked: 1 }, { checks: checksOf('failed') }, 'rollback', 'failing: 1, limit 0'],
    [{ files: 1, uncommitted: 1 }, { checks: checksOf('failed') }, 'rollback', 'failing: 1, limit 0'],
    [
      { files: 1, uncommitted: 1 },
      { checks: checksOf('failed', 'failed'), isHeadSame: true },
      'rollback',
      'failing: 2, limit 1',
    ],
    [{}, { checks: checksOf('failed') }, 'alert', 'failing: 1, limit 0'],
    [{ files: 1 }, { checks: checksOf('failed', 'not_run') }, 'alert', 'not_tested: 1, limit 0'],
    [{}, { checks: [] }, 'alert', 'checks: none, limit some'],
    [{ branch: 'diverged' }, {}, 'alert', 'branch: diverged, limit descendant'],
    [{ branch: 'missing' }, {}, 'alert', 'branch: missing, limit descendant'],
    [{ operation: 'a merge' }, {}, 'alert', 'operation: a merge, limit none'],
    [{ ledger: 'corrupted' }, {}, 'alert', 'ledger: corrupted, limit intact'],
  ])('GIT-06 %j %j: %s', (change, facts, decision, said) => {
    const rules = judge(change, facts);
    const [first] = rules.filter(({ holds }) => !holds);
    const broken = first ? `${first.rule}: ${first.value}, limit ${first.limit}` : '';
    expect([decide(rules), broken]).toEqual([decision, said]);
  });

  it('GIT-06 one command that fails for a feature and by itself is one failure', () => {
    const checks = checksOf('failed', 'failed').map((check) => ({ ...check, command: 'npm test' }));
    const facts = { checks, isHeadSame: true };
    const rules = judge({ files: 1, uncommitted: 1 }, facts);
    expect([decide(rules), rules.find(({ rule }) => rule === 'failing')?.value]).toEqual(['continue', 1]);
    // Only one of them passed at HEAD, so uncommitted work alone is not the cause.
    const mixed = checksOf('failed', 'passed at HEAD').map((check) => ({ ...check, command: 'npm test' }));
    expect(decide(judge({ files: 1, uncommitted: 1 }, { checks: mixed }))).toBe('rollback');
  });

  it('GIT-06 shows what each row decides; a failure without a change has its cause outside git', () => {
    expect(judge({}, { checks: checksOf('failed') }).slice(-2)).toEqual([
      { rule: 'failing', value: 1, limit: 0, holds: false, otherwise: 'rollback' },
      { rule: 'changes', value: 'none', limit: 'some', holds: false, otherwise: 'alert' },
    ]);
  });

  it.each([
    [['command', 'feature'], 1, 'continue'],
    [['command', 'command', 'feature'], 2, 'rollback'],
    [['command', 'feature', 'feature'], 2, 'rollback'],
  ] as const)(
    'GIT-06 counts failed commands or features, whichever is more: %j',
    (kinds, value, decision) => {
      const checks = kinds.map(
        (kind, i): ProvedCheck => ({ name: `C${i}`, kind, state: 'failed', command: `test ${i}` }),
      );
      const rules = judge({ files: 1, uncommitted: 1 }, { checks, isHeadSame: true });
      expect([decide(rules), rules.find(({ rule }) => rule === 'failing')?.value]).toEqual([decision, value]);
    },
  );

  it('GIT-06 without a checkpoint nothing is compared, but known facts are still shown', () => {
    const rules = judge({ branch: 'missing', ledger: 'halted' }, { checkpoint: 'none' });
    expect(decide(rules)).toBe('alert');
    expect(rules.map(({ rule }) => rule)).toEqual(['checkpoint', 'operation', 'ledger']);
  });

  it('GIT-06 mentions a shallow clone as a possible cause', () => {
    expect(judge({ branch: 'diverged' }, { isShallow: true })[1]?.value).toBe('diverged, in a shallow clone');
    expect(decide(judge({}, { isShallow: true }))).toBe('continue');
  });
});
