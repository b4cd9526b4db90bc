import { describe, expect, it } from 'vitest';
import type { Feature } from '../../src/feature/rules.js';
import type { Learning, NewLearning } from '../../src/knowledge/rules.js';
import { ANY_TASK } from '../../src/knowledge/rules.js';
import type { Proven } from '../../src/learning/proven.js';
import { type BriefingData, briefingSections } from '../../src/session/briefing-sections.js';
import { type ArchivedSession, NO_FOCUS } from '../../src/session/rules.js';

const at = '2026-03-01T10:00:00.000Z';
const EMPTY: BriefingData = {
  focus: NO_FOCUS,
  next: null,
  progress: [],
  last: null,
  before: null,
  handovers: [],
  features: [],
  learnings: [],
  architecture: [],
  isApproved: () => false,
  uncommitted: 0,
  changed: '',
  operation: null,
  foreign: [],
  proven: [],
  candidates: [],
  answers: [],
  notes: [],
  findings: [],
  offered: [],
  elsewhere: [],
  issues: [],
  skills: [],
  commits: [],
};
const last: ArchivedSession = {
  schema_version: '1.0',
  id: '2026-02-28-session-003-abcdef',
  seq: 3,
  started_at: at,
  branch: 'main',
  head: null,
  status: 'ended',
  ended_at: at,
  learned: [],
  failed: [],
  next: 'Wire it up',
};
const features = (count: number): Feature[] =>
  Array.from({ length: count }, (_, n) => ({ id: `F-${100 + n}`, name: `Feature ${n}`, status: 'failing' }));
const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

const learned = (entry: NewLearning): Learning => ({ ...entry, id: 'x', learned_at: at }) as Learning;

const RICH: BriefingData = {
  ...EMPTY,
  focus: {
    ...NO_FOCUS,
    task: 'F-100: Ship it',
    phase: 'PLAN',
    files: times(50, (n) => `src/file-${n}.ts`),
    blockers: ['CI'],
  },
  next: 'Go on\nwith two lines',
  last,
  handovers: [last],
  features: features(300),
  learnings: [
    ...times(80, (n) => learned({ kind: 'success', context: `Context ${n}`, approach: `Approach ${n}` })),
    ...times(80, (n) =>
      learned({ kind: 'failure', context: `Context ${n}`, issue: `Issue ${n}`, resolution: '' }),
    ),
    ...times(40, (n) => learned({ kind: 'invariant', text: `Invariant ${n}` })),
  ],
  architecture: times(40, (n) => `Rule ${n}: nothing else\n  - but this`),
  issues: times(20, (n) => ({ linear_id: `SX9-${n}`, title: `Issue ${n}`, state: 'started' })),
  commits: times(10, (n) => ({ short: `abc${n}`, at, subject: `Commit ${n}` })),
};

const items = (change: Partial<BriefingData>, key: string): string[] =>
  briefingSections({ ...EMPTY, handovers: change.last ? [change.last] : [], ...change }).find(
    (section) => section.key === key,
  )?.items ?? [];

describe('the parts of the briefing', () => {
  it('AGT-06 name the tools of an agent that may have no shell', () => {
    const text = JSON.stringify(
      briefingSections({
        ...RICH,
        next: null,
        last: { ...last, status: 'interrupted' },
        tool: (name) => `forge__${name}`,
      }),
    );
    expect(text).toContain('forge__session_start {\\"resume\\":\\"2026-02-28-session-003\\"}');
    expect(text).toContain('forge__session_end {\\"confirm\\":[\\"ID\\"]}');
    expect(text).toContain('not in force (forge__session_working_memory_update takes one over)');
    expect(text).toContain('.forge/skills/NAME/instructions.md');
  });

  it('SES-03 are in reading order, and are cut in the order of their use: skills first, the focus last', () => {
    expect(briefingSections(RICH).map(({ key }) => key)).toEqual(
      `rules focus findings next before progress offered foreign features proven elsewhere contested
      patterns answers notes candidates architecture invariants uncommitted commits issues skills`.split(
        /\s+/,
      ),
    );
    const byUrgency = briefingSections(RICH).toSorted((a, b) => b.priority - a.priority);
    expect(byUrgency.map(({ key }) => key)).toEqual(
      `skills commits uncommitted issues elsewhere patterns answers notes candidates findings proven contested
      architecture invariants before progress features rules next offered foreign focus`.split(/\s+/),
    );
  });

  it('LTM-09 distinguish tested from reported knowledge, and list contested knowledge separately', () => {
    const known = (pattern: string, more: object): Proven => ({
      ...{ knowledge_id: pattern, pattern, scope: 'execution', kind: 'knowledge', record: 'a'.repeat(64) },
      ...{ created_at: at, evidence_cycles: [1, 2, 3], tested: 0, reported: 3, status: 'valid' },
      ...{ contested: [], invalidated: [], answered: new Set<string>(), ...more },
    });
    const proven = [
      known('The moon is cheese', { reported: 10 }),
      known('Tests need -x', { tested: 3, reported: 0 }),
      known('Use the mirror', { kind: 'correction', reported: 0 }),
      known('Retry once', { status: 'contested' }),
      known('Gone', { status: 'invalid' }),
    ];
    const named = (text: string): string => `${text} [knowledge aaaaaaaaaaaa]`;
    expect(items({ proven }, 'proven')).toEqual([
      named('Use the mirror (execution, by a human)'),
      named('Tests need -x (execution, tested in 3 cycles)'),
      named('The moon is cheese (execution, reported 10 times)'),
    ]);
    expect(items({ proven }, 'contested')).toEqual([named('Retry once (execution, reported 3 times)')]);
    // A lesson is shown as the knowledge that it became, and not at all after a human invalidated it.
    const learnings = ['Tests need -x', 'gone', 'Elsewhere'].map((approach) =>
      learned({ kind: 'success', context: ANY_TASK, approach }),
    );
    expect(items({ proven, learnings }, 'patterns')).toEqual(['Elsewhere [lesson x]']);
    for (const section of briefingSections({ ...EMPTY, proven }))
      if (/knowledge/i.test(section.title)) expect(section.source).not.toBe('proven');
  });

  it('KNO-03 SES-03 show an invariant once, in any spelling', () => {
    const learnings = ['nothing READS the `disk`.', 'Another one', 'another one', 'Third'].map((text) =>
      learned({ kind: 'invariant', text }),
    );
    const architecture = ['Nothing reads the **disk**', 'Nothing reads the disk.', 'Second'];
    expect(items({ learnings, architecture }, 'architecture')).toEqual([
      'Nothing reads the **disk**',
      'Second',
    ]);
    expect(items({ learnings, architecture }, 'invariants')).toEqual(['Another one', 'Third']);
    expect(items({ learnings }, 'invariants')).toHaveLength(3);
  });

  it('SES-03 show the whole focus, and count the files that are not listed', () => {
    const focus = {
      ...{ ...NO_FOCUS, task: 'Ship', linear_issue: 'SX9-1', phase: 'BUILD', skill: 'qa' },
      ...{ blockers: ['a', 'b'], files: ['x', 'y'] },
    };
    expect(items(RICH, 'focus').at(-1)).toMatch(/^Files: src\/file-0\.ts, .*src\/file-19\.ts, … 30 more$/);
    expect(items({ focus }, 'focus')).toEqual([
      'Task: Ship',
      'Issue: SX9-1',
      'Phase: BUILD',
      'Skill: qa',
      'Blockers: a; b',
      'Files: x, y',
    ]);
  });

  it.each<[string, Partial<BriefingData>, string[]]>([
    ['this session’s', { next: 'Now', last }, ['Now']],
    ['the last session’s', { last }, ['Wire it up (from 2026-02-28-session-003)']],
    ['none', { last: { ...last, next: null } }, []],
    [
      'what can be resumed',
      { last: { ...last, status: 'interrupted' } },
      ['Wire it up (from 2026-02-28-session-003; interrupted: forge start --resume 2026-02-28-session-003)'],
    ],
    [
      'what passed since',
      {
        last,
        features: ['a', 'b', 'c', 'd'].map((id) => ({
          ...{ id, name: id, status: 'passing', verified_at: '2026-03-01T11:00:00.000Z' },
        })),
      },
      ['Wire it up (from 2026-02-28-session-003; a, b, c and 1 more passed since)'],
    ],
    [
      'last a step whose feature passed since, although it fails again',
      {
        before: { ...last, focus: { ...NO_FOCUS, task: 'F-100: Feature 0' } },
        handovers: [
          { ...last, id: '2026-03-01-session-004', ended_at: '2026-03-02', next: 'Write the docs' },
        ],
        features: features(1),
        regressions: { 'F-100': { at: '2026-03-01T11:00:00.000Z', commit: '' } },
      },
      [
        'Write the docs (from 2026-03-01-session-004)',
        'Wire it up (from 2026-02-28-session-003; F-100 passed since)',
      ],
    ],
    [
      'what the agent wrote last, before what forge recorded',
      {
        last: {
          ...last,
          next: null,
          status: 'interrupted',
          progress: [
            '[10:00] Started - branch: main',
            '[10:01] wired it',
            '[10:02] Changed: a.ts',
            '[10:02] Committed 1a2b3c4: wire',
            '[10:02] Ran: npm test (exit 1)',
            '[10:03] Resumed 2026-02-28-session-002',
          ],
        },
      },
      [
        'Session 2026-02-28-session-003 was interrupted after "wired it": forge start --resume 2026-02-28-session-003',
      ],
    ],
    [
      'nothing to resume twice',
      { last: { ...last, next: null, status: 'interrupted', resumed_by: 'x' } },
      [],
    ],
  ])('SES-03 SES-07 show as next step %s', (_name, data, shown) => {
    expect(items(data, 'next')).toEqual(shown);
  });

  it('SES-03 show its status and tests, and do not repeat the task: neither in the features nor before its lessons', () => {
    const data = {
      focus: { ...NO_FOCUS, task: 'F-100: Feature 0', phase: 'PLAN' },
      features: features(2).map((one) => ({ ...one, tests: ['npm test -- ship'] })),
      learnings: [
        learned({ kind: 'failure', context: 'F-100: Feature 0', issue: 'by hand', resolution: '' }),
        learned({ kind: 'success', context: 'F-9: Gone', approach: 'npm ci first' }),
      ],
    };
    expect(items(data, 'focus')).toEqual([
      'Task: F-100: Feature 0',
      'Status: failing',
      'Tests: npm test -- ship',
    ]);
    expect(items(data, 'features')).toEqual(['2 features: 2 failing', 'F-101 Feature 1 [failing]']);
    expect(items(data, 'patterns')).toEqual([
      'Failed: F-100: by hand [lesson x]',
      'F-9: Gone → npm ci first [lesson x]',
    ]);
  });

  it.each([
    [8, expect.not.arrayContaining([expect.stringContaining('more')])],
    [9, expect.arrayContaining(['9 features: 9 failing', '… 1 more'])],
    [300, expect.arrayContaining(['300 features: 300 failing', '… 292 more'])],
  ])('SES-03 sum up %i features', (count, shown) => {
    expect(items({ features: features(count) }, 'features')).toEqual(shown);
  });

  it('SES-03 show what blocks a feature', () => {
    const waiting: Feature = { id: 'F-1', name: 'Later', status: 'failing', blocked_by: ['F-100'] };
    const shown = items({ features: [waiting, ...features(1)] }, 'features');
    expect(shown).toContain('F-1 Later [failing, waits for F-100]');
  });

  it('SES-03 show the candidates of the task, and those that were seen again', () => {
    const candidate = (n: number, pattern: string, seen = 1) => ({
      ...{ id: `C-${n}`, pattern, scope: 'execution', seen, clean: 0 },
    });
    const candidates = [
      candidate(1, 'npm ci first', 2),
      ...times(6, (n) => candidate(n + 2, `about something else, number ${n}`)),
      candidate(9, 'ship it with the form'),
    ];
    const focus = { ...NO_FOCUS, task: 'Ship the form' };
    expect(items({ candidates, focus }, 'candidates').slice(0, 2)).toEqual([
      'C-9: ship it with the form, seen 1 time',
      'C-1: npm ci first, seen 2 times',
    ]);
    expect(items({ candidates }, 'candidates')).toHaveLength(5);
  });

  it('SES-03 distinguish beliefs from proof and put the newest failure first', () => {
    const section = briefingSections(RICH).find(({ key }) => key === 'patterns');
    expect(section?.source).toBe('learned');
    expect(section?.items[0]).toBe('Failed: Context 79: Issue 79 [lesson x]');
    expect(section?.items.slice(7)).toEqual([
      'Failed: Context 72: Issue 72 [lesson x]',
      '… 152 more: forge knowledge list',
    ]);
  });

  it('SES-03 show eight patterns, those first that share words with the task', () => {
    const patterns = items(
      { ...RICH, focus: { ...NO_FOCUS, task: 'repair approach in context' } },
      'patterns',
    );
    expect(patterns).toHaveLength(9);
    expect(patterns[0]).toBe('Context 79 → Approach 79 [lesson x]');
    const anyTask = [learned({ kind: 'success', context: 'any task', approach: 'npm ci first' })];
    expect(items({ learnings: anyTask }, 'patterns')).toEqual(['npm ci first [lesson x]']);
  });

  it('SES-03 list the last five answers, the newest first', () => {
    const answers = times(6, (n) => `Question ${n}? → Answer ${n}`);
    expect(items({ answers, focus: { ...NO_FOCUS, task: 'Question 1' } }, 'answers')).toEqual(
      answers.slice(1).reverse(),
    );
  });

  it('SES-03 list the session’s work, without the start lines', () => {
    const lines = [
      '[10:00] Started - branch: main',
      '[10:00] Active issues: 0',
      '[10:00] Resumed 2026-02-28-session-002',
      ...times(7, (n) => `[10:0${n}] step ${n}`),
    ];
    expect(items({ progress: lines }, 'progress')).toEqual(lines.slice(-5));
    expect(items({ progress: lines.slice(0, 3) }, 'progress')).toEqual([]);
  });
});
