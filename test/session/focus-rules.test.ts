import { describe, expect, it } from 'vitest';
import { decodeDocument, encodeDocument } from '../../src/core/schema.js';
import {
  FOCUS,
  type Focus,
  type FocusChange,
  NO_FOCUS,
  planFocus,
  switchesContext,
} from '../../src/session/rules.js';

const START = '2026-03-01T10:00:00.000Z';
const now = '2026-03-01T11:00:00.000Z';
const focus: Focus = {
  schema_version: '1.0',
  task: 'Wire it',
  linear_issue: 'SX9-123',
  files: ['src/main.rs'],
  phase: 'BUILD',
  blockers: ['CI is down'],
  skill: 'qa',
  started_at: START,
};

describe('focus.json', () => {
  it('SES-05 is read as RFC-9060 §3.2 shows it, and written with its version', () => {
    const sample = {
      task: 'Wire ATLAS daemon to NATS',
      linear_issue: 'SX9-123',
      files: ['crates/sx9-atlas-daemon/src/main.rs', 'crates/sx9-harness/src/nats/subjects.rs'],
      phase: 'PLAN',
      blockers: [],
      started_at: '2025-12-24T11:35:00Z',
    };
    const value = decodeDocument(FOCUS, Buffer.from(JSON.stringify(sample)), 'focus.json');
    expect(value).toEqual({ ...sample, schema_version: '1.0' });
    expect(decodeDocument(FOCUS, encodeDocument(NO_FOCUS), 'focus.json')).toEqual(NO_FOCUS);
  });
});

describe('switchesContext', () => {
  it.each<[string, Focus, FocusChange, boolean]>([
    ['another task', focus, { task: 'Other' }, true],
    ['the same task', focus, { task: 'Wire it' }, false],
    ['the first task', NO_FOCUS, { task: 'Other' }, false],
    ['anything else', focus, { files: ['x'], phase: 'QA', linear_issue: 'SX9-9' }, false],
  ])('SES-05 sees that %s changes the context, or not: %j', (_name, before, change, switches) => {
    expect(switchesContext(before, change)).toBe(switches);
  });
});

describe('planFocus', () => {
  it('SES-05 starts another task afresh: nothing of the old one is left', () => {
    expect(planFocus(focus, { task: 'Other' }, now)).toEqual({
      ...NO_FOCUS,
      task: 'Other',
      phase: 'PLAN',
      started_at: now,
    });
  });

  it('SES-05 applies the fields given with another task', () => {
    const change: FocusChange = {
      task: 'Other',
      files: ['a'],
      phase: 'BUILD',
      blockers: ['b'],
      linear_issue: 'SX9-9',
      skill: 's',
    };
    expect(planFocus(focus, change, now)).toEqual({ ...NO_FOCUS, ...change, started_at: now });
  });

  it.each<[string, FocusChange, Partial<Focus>]>([
    ['the same task', { task: 'Wire it' }, {}],
    ['files', { files: ['a', 'b'] }, { files: ['a', 'b'] }],
    ['no files', { files: [] }, { files: [] }],
    ['the phase', { phase: 'QA' }, { phase: 'QA' }],
    ['another issue', { linear_issue: 'SX9-9' }, { linear_issue: 'SX9-9' }],
    ['no issue', { linear_issue: null }, { linear_issue: null }],
    ['no skill', { skill: null }, { skill: null }],
    ['nothing', { task: undefined, files: undefined, skill: undefined }, {}],
  ])('SES-05 changes within a task only what is given: %s', (_name, change, changed) => {
    expect(planFocus(focus, change, now)).toEqual({ ...focus, ...changed });
  });

  it('SES-05 begins with PLAN and the time when there was no task', () => {
    expect(planFocus(NO_FOCUS, { task: 'First' }, now)).toEqual({
      ...NO_FOCUS,
      task: 'First',
      phase: 'PLAN',
      started_at: now,
    });
  });

  it('SES-05 keeps files that were set before the first task', () => {
    const before = planFocus(NO_FOCUS, { files: ['a'] }, START);
    expect(before).toMatchObject({ task: null, phase: null, files: ['a'], started_at: START });
    expect(planFocus(before, { task: 'First' }, now)).toMatchObject({ files: ['a'], started_at: now });
  });

  it.each([{ task: 'Other' }, { task: 'Wire it' }, { phase: 'QA' }])(
    'B-18 keeps unknown fields at %j',
    (change) => {
      expect(planFocus({ ...focus, mood: { calm: true } }, change, now)).toHaveProperty('mood', {
        calm: true,
      });
    },
  );
});
