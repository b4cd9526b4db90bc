import { describe, expect, it } from 'vitest';
import { applyPatch, type Operation, type Patched } from '../../src/kfr/patch.js';
import { answersIn, countKfr, type Kfr } from '../../src/kfr/rules.js';
import { add, EMPTY, LIMITS, made, NOW, patch } from '../support/patches.js';

const texts = ({ entries }: Kfr): string[] => entries.map(({ id, text }) => `${id} ${text}`);
const codes = ({ refusals }: Patched): string[] => refusals.map(({ index, code }) => `${index} ${code}`);

/** Nothing changed: the very same value comes back. */
function expectRefused(before: Kfr, patched: Patched, ...expected: string[]): void {
  expect(codes(patched)).toEqual(expected);
  expect(patched.kfr).toBe(before);
}

describe('a patch', () => {
  const NO_OP = 'allowed: replace, add, remove, resolve, dismiss, park.';
  const KINDS = 'allowed: Goal, Plan, ActiveContract, Constraint, OpenQuestion.';
  it.each<[string, unknown, string]>([
    ['malformed', 'add', 'operation: found "add", allowed: object.'],
    ['malformed', {}, `op: missing, ${NO_OP}`],
    ['malformed', { op: 'constructor' }, `op: found "constructor", ${NO_OP}`],
    ['malformed', { op: 'add', kind: 5, text: 'x' }, `kind: found 5, ${KINDS}`],
    ['malformed', { op: 'add', kind: 'Goal', text: 5 }, 'text: found 5, allowed: string.'],
    ['malformed', { op: 'dismiss', id: 'kfr-1' }, 'reason: missing, allowed: string.'],
    [
      'malformed',
      add('Goal', 'x', { todo: true }),
      'operation: found {"op":"add","kind":"Goal","text":"x","todo":true}, allowed: no field "todo".',
    ],
    [
      'malformed',
      add('Constraint', 'x', { requires_resolution: 'yes' }),
      'requires_resolution: found "yes", allowed: boolean.',
    ],
    ['text.empty', add('Goal', ' \n '), 'The text is empty.'],
    ['text.empty', { op: 'park', id: 'kfr-1', reason: '' }, 'The reason is empty.'],
    [
      'text.hidden_character',
      add('Goal', 'a\u001b[2J'),
      'The text has the control or invisible character U+001B at position 1.',
    ],
    ['text.surrogate', add('Goal', 'a\ud800'), 'The text is not valid Unicode (an unpaired surrogate).'],
    [
      'text.too_long',
      { op: 'resolve', id: 'kfr-1', resolution: 'x'.repeat(3000) },
      'The resolution has 3000 bytes; 2000 are allowed.',
    ],
  ])('KFR-02 a fault of form (%s) is told apart from a rule, and named', (code, operation, message) => {
    const before = made(add('OpenQuestion', 'a?'));
    const patched = patch(before, operation);
    expectRefused(before, patched, `0 ${code}`);
    expect(patched.isMalformed).toBe(true);
    expect(patch(before, operation, add('Goal', 'g')).applied.map(({ index }) => index)).toEqual([1]);
    const { op } = (operation ?? {}) as { op?: unknown };
    expect(patched.refusals[0]).toMatchObject({ op: typeof op === 'string' ? op : '', message });
  });

  it('KFR-02 normalizes white space; a plan keeps its lines', () => {
    const kfr = made(
      add('Constraint', '  no \t new\npackages  '),
      add('Plan', ' 1.  read \r\n\n 2. wire\u2028'),
    );
    expect(texts(kfr)).toEqual(['kfr-1 no new packages', 'kfr-2 1. read\n2. wire']);
  });

  it('KFR-05 a new Goal or Plan replaces the old one, by add or by replace', () => {
    const before = made(add('Goal', 'one'), add('Plan', 'p'));
    for (const op of ['add', 'replace']) {
      const { kfr, applied } = patch(before, { op, kind: 'goal', text: 'two' });
      expect(texts(kfr)).toEqual(['kfr-2 p', 'kfr-3 two']);
      expect(applied).toEqual([{ index: 0, op, id: 'kfr-3', kind: 'Goal', replaced: 'kfr-1' }]);
      expect(kfr.closed).toMatchObject([{ id: 'kfr-1', text: 'one', outcome: 'replaced' }]);
    }
    const again = patch(before, add('Plan', 'q')).kfr;
    expect(texts(again)).toEqual(['kfr-1 one', 'kfr-3 q']);
    const patched = patch(before, { op: 'replace', kind: 'Constraint', text: 'x' });
    expectRefused(before, patched, '0 not_replaceable');
    expect(patched.isMalformed).toBe(false);
    expect(patched.refusals[0]?.message).toBe(
      'There may be many of Constraint: remove the one that no longer holds (or resolve it), and add the new one.',
    );
    expect(patch(before, add('Todo', 'x')).refusals[0]).toMatchObject({
      code: 'unknown_kind',
      message: 'Unknown kind "Todo". Use Goal, Plan, ActiveContract, Constraint, OpenQuestion.',
    });
  });

  it('KFR-05 keeps the last 20 of those that left', () => {
    let kfr = EMPTY;
    for (let n = 1; n <= 22; n++) kfr = patch(kfr, add('Goal', `goal ${n}`)).kfr;
    expect(kfr.closed.map(({ text }) => text)).toEqual([...Array(20).keys()].map((i) => `goal ${i + 2}`));
  });

  it('KFR-06 refuses duplicates, ignoring case, width, white space and a final punctuation mark', () => {
    const before = made(add('Constraint', 'No new packages.'));
    for (const twin of ['No new packages.', 'no  NEW packages', 'ｎo new packages!!', ' no\tnew packages ?'])
      expectRefused(before, patch(before, add('ActiveContract', twin)), '0 duplicate');
    expect(patch(before, add('Constraint', 'a'), add('Constraint', 'A.')).refusals).toMatchObject([
      { index: 1, code: 'duplicate', message: 'kfr-2 (Constraint) says that already.' },
    ]);
    expect(
      patch(before, { op: 'remove', id: 'kfr-1' }, add('Constraint', 'no new packages')).refusals,
    ).toEqual([]);
  });

  it('KFR-06 repeating the goal changes nothing and is not an error', () => {
    const before = made(add('Goal', 'Log in with a token'), add('Constraint', 'No new packages.'));
    const again = patch(before, add('Goal', 'log in with a token.'));
    expect(again.refusals).toEqual([]);
    expect(again.applied).toEqual([{ index: 0, op: 'add', id: 'kfr-1', kind: 'Goal' }]);
    expect(again.kfr).toEqual(before);
    expectRefused(before, patch(before, add('Goal', 'no new packages')), '0 duplicate');
  });

  it('KFR-06 an entry has at most 280 characters, counted in characters, not bytes', () => {
    expect(patch(EMPTY, add('Goal', '🦊'.repeat(280))).refusals).toEqual([]);
    const { refusals } = patch(EMPTY, add('Goal', 'x'.repeat(281)));
    expect(refusals).toMatchObject([
      { code: 'too_long', message: expect.stringMatching(/281 .*280 are allowed/) },
    ]);
    expect(codes(patch(EMPTY, add('Goal', 'x'.repeat(1 << 20))))).toEqual(['0 text.too_long']);
  });

  it('KFR-06 the KFR has at most 800 tokens; a larger patch is refused with entries to remove or promote', () => {
    const long = (n: number): Operation => add('Constraint', `${n} ${'x'.repeat(n === 3 ? 275 : 265)}`);
    const before = made(...[...Array(10).keys()].map(long), add('OpenQuestion', `q ${'x'.repeat(270)}`));
    expect(countKfr(before.entries)).toBeLessThanOrEqual(800);
    const patched = patch(before, add('Goal', 'x'.repeat(200)));
    expectRefused(before, patched, '0 budget');
    // The largest three, and never what requires resolution.
    expect(patched.refusals[0]?.message).toMatch(
      /^The KFR would have 8\d\d tokens; 800 are allowed\. Remove what is no longer needed, or promote it to a note: kfr-4 \(Constraint, 78 tokens\), kfr-1 \(Constraint, 76 tokens\), kfr-2 \(Constraint, 76 tokens\)\.$/,
    );
    expect(patch(before, { op: 'remove', id: 'kfr-1' }, add('Goal', 'x'.repeat(200))).refusals).toEqual([]);
  });

  it('KFR-08 an entry that requires resolution cannot be removed or replaced, only resolved or dismissed with a text', () => {
    const before = made(add('OpenQuestion', 'a?'), add('Goal', 'g', { requires_resolution: true }));
    const removal = patch(before, { op: 'remove', id: 'kfr-1' });
    expectRefused(before, removal, '0 requires_resolution');
    expect(removal.refusals[0]?.message).toBe(
      'kfr-1 (OpenQuestion) requires resolution and cannot be removed: resolve it {"op":"resolve","id":"kfr-1","resolution":"…"} or dismiss it {"op":"dismiss","id":"kfr-1","reason":"…"}.',
    );
    expect(patch(before, { op: 'remove', id: 'kfr-9' }).refusals[0]?.message).toBe(
      'There is no entry "kfr-9". Active: kfr-1, kfr-2.',
    );
    for (const op of ['add', 'replace'])
      expectRefused(before, patch(before, { op, kind: 'Goal', text: 'h' }), '0 requires_resolution');
    const { kfr } = patch(
      before,
      { op: 'resolve', id: 'kfr-1', resolution: 'sid' },
      { op: 'dismiss', id: 'kfr-2', reason: 'given up' },
    );
    expect(kfr.entries).toEqual([]);
    expect(kfr.closed).toMatchObject([
      { outcome: 'resolved', words: 'sid' },
      { outcome: 'dismissed', words: 'given up' },
    ]);
    expect(patch(kfr, { op: 'dismiss', id: 'kfr-1', reason: 'x' }).refusals).toMatchObject([
      { code: 'unknown_id', message: 'kfr-1 was resolved already (sid). Active: none.' },
    ]);
    expect(patch(kfr, { op: 'remove', id: 'kfr-9' }).refusals).toMatchObject([
      { code: 'unknown_id', message: 'There is no entry "kfr-9". Active: none.' },
    ]);
  });

  it('KFR-08 finds an entry by its id in any case', () => {
    const before = made(add('OpenQuestion', 'a?'));
    const { kfr } = patch(before, { op: 'resolve', id: 'KFR-1', resolution: 'sid' });
    expect([kfr.entries, kfr.closed]).toMatchObject([[], [{ id: 'kfr-1', words: 'sid' }]]);
  });

  it('KFR-08 an answer names the agent that gave it, and stands', () => {
    const before = made(add('OpenQuestion', 'a?'));
    const answer = (kfr: Kfr, resolution: string, by?: 'agent'): Patched =>
      applyPatch(kfr, [{ op: 'resolve', id: 'kfr-1', resolution }], LIMITS, NOW, by);
    const answered = answer(before, 'yes', 'agent').kfr;
    expect(answersIn(answered)).toEqual([{ id: 'kfr-1', text: 'a? → yes (by an agent)' }]);
    expectRefused(answered, answer(answered, 'no'), '0 unknown_id');
  });

  it('KFR-08 KFR-09 only an entry that requires resolution can be resolved or parked, which leaves it open', () => {
    const before = made(add('Goal', 'g'), add('OpenQuestion', 'a?'));
    expectRefused(before, patch(before, { op: 'park', id: 'kfr-1', reason: 'x' }), '0 not_required');
    const resolved = patch(before, { op: 'resolve', id: 'kfr-1', resolution: 'yes' });
    expectRefused(before, resolved, '0 not_required');
    expect(resolved.refusals[0]?.message).toBe('kfr-1 (Goal) requires no resolution: remove it.');
    const { kfr } = patch(before, { op: 'park', id: 'kfr-2', reason: 'ask Ada' });
    expectRefused(kfr, patch(kfr, { op: 'remove', id: 'kfr-2' }), '0 requires_resolution');
    expect(kfr.entries[1]).toMatchObject({ id: 'kfr-2', parked: { at: NOW, reason: 'ask Ada' } });
    const removed = patch(before, { op: 'remove', id: 'kfr-1' });
    expect(removed.applied).toEqual([{ index: 0, op: 'remove', id: 'kfr-1', kind: 'Goal' }]);
    expect(removed.kfr.closed).toMatchObject([{ id: 'kfr-1', outcome: 'removed' }]);
    const spaced = patch(before, { op: 'dismiss', id: 'kfr-2', reason: ' no \n\t need ' }).kfr;
    expect(spaced.closed).toMatchObject([{ id: 'kfr-2', outcome: 'dismissed', words: 'no need' }]);
    const vague = patch(before, { op: 'dismiss', id: 'kfr-2', reason: ' ' });
    expect(vague.refusals[0]?.message).toBe('The reason is empty.');
  });

  it.each([
    ['content.code_block', 'Constraint', 'run ```npm test```'],
    ['content.code_block', 'Plan', '~~~\nx\n~~~'],
    ['content.check_box', 'Constraint', '- [ ] wire it'],
    ['content.check_box', 'Constraint', '[x] wire it'],
    ['content.check_box', 'Constraint', 'wire it: [ ]'],
    ['content.check_box', 'Plan', 'read\n- [x] wire'],
    ['content.check_box', 'Goal', '☐ wire it'],
    ['content.todo', 'Goal', 'TODO: wire it'],
    ['content.todo', 'Constraint', ' fixme: wire it'],
    ['content.todo', 'Constraint', 'to-do - wire it'],
    ['content.list', 'Constraint', '- one\n- two'],
    ['content.list', 'ActiveContract', '1. one\n2. two'],
  ])('KFR-12 %s is refused by name in a %s', (code, kind, text) => {
    const patched = patch(EMPTY, add(kind, text));
    expectRefused(EMPTY, patched, `0 ${code}`);
    expect(patched.refusals[0]?.message).toMatch(/^This never belongs in a KFR: .{10,}\.$/);
  });

  it.each([
    ['rationale', 'Use sid because the old one leaks'],
    ['rejected_alternative', 'Use sid instead of uid'],
    ['rejected_alternative', 'Rejected alternative: Redis'],
    ['example', 'Names are short, e.g. sid'],
    ['history', 'The cookie was previously uid'],
    ['narrative', 'I tried sid'],
  ])('KFR-12 %s is taken with a warning that names the rule', (rule, text) => {
    const { kfr, warnings } = patch(EMPTY, add('Goal', 'fine'), add('Constraint', text));
    expect(texts(kfr)).toEqual(['kfr-1 fine', `kfr-2 ${text}`]);
    expect(warnings).toEqual([
      expect.stringMatching(new RegExp(`^add Constraint "${text}": it reads like .*\\(${rule}\\)$`)),
    ]);
  });

  it('KFR-12 similar text passes: a plan’s list, an array, a hyphen', () => {
    for (const [kind, text] of [
      ['Plan', '- read\n- wire'],
      ['Plan', '1. read\n2. wire'],
      ['Constraint', 'items[ ] is never indexed by [x] of input'],
      ['Plan', 'TODO: wire it'],
      ['Constraint', 'the todo list endpoint answers 200'],
      ['Constraint', 'no comment says TODO: do it later'],
      ['ActiveContract', '- one item alone'],
    ] as const) {
      const found = codes(patch(EMPTY, add(kind, text)));
      expect([
        text,
        text.includes('[') ? found.filter((code) => !code.includes('check_box')) : found,
      ]).toEqual([text, []]);
    }
  });
});
