import { describe, expect, it } from 'vitest';
import { planImport } from '../../src/feature/feature.js';
import type { Feature } from '../../src/feature/rules.js';
import { failure } from '../support/failure.js';
import { expectError, forgeJson, runForge } from '../support/forge.js';
import { FEATURES, makeForge } from '../support/forge-project.js';

const now = '2026-03-01T10:00:00.000Z';
const there: Feature = { id: 'FORGE-007', name: 'Login works', status: 'passing' };
const plan = (text: string | object, features: Feature[] = []) =>
  planImport(features, typeof text === 'string' ? text : JSON.stringify(text, null, 2), now);
const rows = (text: string | object, features: Feature[] = []): string[] =>
  plan(text, features).added.map(({ id, name, status }) => `${id}|${name}|${status}`);

describe('a Markdown list', () => {
  it.each([
    ['- FORGE-001: Login', 'FORGE-001|Login|not_implemented'],
    ['- FORGE-001 - Login', 'FORGE-001|Login|not_implemented'],
    ['* SX9-12 – Login', 'SX9-12|Login|not_implemented'],
    ['+ a.b-3 Login', 'a.b-3|Login|not_implemented'],
    ['- Login', 'FORGE-001|Login|not_implemented'],
    ['1. Login', 'FORGE-001|Login|not_implemented'],
    ['12) Login', 'FORGE-001|Login|not_implemented'],
    ['- [ ] Login', 'FORGE-001|Login|not_implemented'],
    ['- [ ] FORGE-009: Login: with a colon', 'FORGE-009|Login: with a colon|not_implemented'],
    ['  - Login   \r', 'FORGE-001|Login|not_implemented'],
    ['- FORGE-001', 'FORGE-001|FORGE-001|not_implemented'],
  ])('FEA-01 reads %j as the feature %s', (line, row) => {
    expect(rows(line)).toEqual([row]);
  });

  it('FEA-01 leaves out what is ticked, and says so', async () => {
    expect(plan('- [x] Login\n3. [X] FORGE-002 Logout\n- [-] Mails\n- [ ] Help')).toMatchObject({
      added: [{ id: 'FORGE-001', name: 'Help' }],
      done: ['Login', 'Logout', 'Mails'],
    });
    const project = await makeForge();
    const args = ['feature', 'import', '-'];
    const { stdout } = await runForge(project, args, { stdin: '- [x] Login\n- [ ] Help\n' });
    expect(stdout).toBe(
      'FORGE-001  not_implemented  Help\n1 imported, 0 known already, 1 ticked or cancelled, so not imported\n',
    );
  });

  it('FEA-01 takes the tests that are indented below a feature', () => {
    const list = '- Login\n  - test: npm test -- login\n  test: `npm test -- "log out"`\n- test: the mails\n';
    expect(plan(list).added).toMatchObject([
      { name: 'Login', tests: ['npm test -- login', 'npm test -- "log out"'] },
      { name: 'test: the mails', tests: [] },
    ]);
  });

  it('FEA-01 may contain headings, prose, rules and blank lines', () => {
    const block = '```md\n- [ ] an example\n~~~\n- another\n```\n';
    expect(rows(`# Features\n\n${block}\n- Login\n---\n- [ ] \n- Logout\n*  [x]\n\n> quoted\n`)).toEqual([
      'FORGE-001|Login|not_implemented',
      'FORGE-002|Logout|not_implemented',
    ]);
  });

  it('FEA-01 continues from the largest number in use', () => {
    expect(rows('- Logout\n- FORGE-020: Big\n- After', [there])).toEqual([
      'FORGE-008|Logout|not_implemented',
      'FORGE-020|Big|not_implemented',
      'FORGE-021|After|not_implemented',
    ]);
  });
});

describe('a JSON list', () => {
  const list = [
    { id: 'A', name: 'First', tests: ['npm test'], priority: 1, linear_issue: 'SX9-1', status: 'failing' },
    { description: 'Second', blocked_by: 'A', test: 'npm run e2e', category: 'ui' },
    { id: 'C', blocked_by: ['A', 'FORGE-001'], passes: false },
  ];

  it.each([
    ['an array', list],
    ['an object with features', { features: list }],
  ])('FEA-01 may be %s', (_name, value) => {
    const base = { created_at: now, status: 'not_implemented' };
    expect(plan(value).added).toEqual([
      {
        ...base,
        id: 'A',
        name: 'First',
        tests: ['npm test'],
        priority: 1,
        linear_issue: 'SX9-1',
        status: 'failing',
      },
      { ...base, id: 'FORGE-001', name: 'Second', tests: ['npm run e2e'], blocked_by: 'A' },
      { ...base, id: 'C', name: 'C', tests: [], blocked_by: ['A', 'FORGE-001'] },
    ]);
  });
});

describe('importing', () => {
  it.each([
    ['- forge-007: Another name', 'forge-007'],
    ['- LOGIN works', 'LOGIN works'],
    ['[{"name": " Login works "}]', ' Login works '],
    ['- Logout\n-  logout ', 'logout'],
    ['- X-1: Logout\n- X-1: Logout', 'X-1'],
  ])('FEA-01 B-03 recognizes a known feature: %j', (text, known) => {
    expect(plan(text, [there]).known).toEqual([known]);
  });

  it.each<[string, string | object, string]>([
    ['import.twice', '- A-1: Login\n- a-1: Logout', 'The list has the id A-1 twice: Login, and Logout.'],
    ['id.invalid', [{ id: '../x' }], '"../x" is not a valid feature id.'],
    ['id.invalid', [{ name: 'b', blocked_by: ['a/b'] }], '"a/b" is not a valid features[0].blocked_by.'],
    ['import.name', [{ name: 'ok' }, { priority: 1 }], 'features[1] has no name.'],
    [
      'input.invalid',
      [{ name: 'ok' }, { name: 'b', status: 'done' }],
      expect.stringMatching(/^features\[1\]\.status: found "done", allowed: "not_implemented"/),
    ],
    ['input.invalid', [{ name: 'ok', priority: 5 }], 'features[0].priority: found 5, allowed: at most 4.'],
    ['input.invalid', { tasks: [] }, 'features: missing, allowed: array.'],
    [
      'feature.cycle',
      '[{"id": "A", "blocked_by": "B"}, {"id": "B", "blocked_by": "A"}]',
      'blocked_by has a cycle: A waits for B.',
    ],
    [
      'text.hidden_character',
      '- ok\n- a\u001b[2Jb',
      'Line 2 has the control or invisible character U+001B at position 1.',
    ],
    [
      'text.hidden_character',
      [{ name: 'ok', tests: ['npm test', 'a\u202eb'] }],
      'features[0].tests has the control or invisible character U+202E at position 1.',
    ],
    ['text.lines', '- a\u2028b', 'Line 1 must be one line.'],
    ['text.lines', [{ name: 'a\nb' }], 'features[0].name must be one line.'],
    ['import.json', '[\n{"name": "a"},\n]', 'Line 3: unexpected "]".'],
    ['import.json', '[{"name": "a", "name": "b"}]', 'Line 1: the key "name" is duplicated.'],
    ['import.empty', [], 'That list contains no features.'],
    ['import.empty', 'Just prose.', 'That list contains no features.'],
  ])('FEA-01 is all or nothing (%s): %j', (code, text, message) => {
    expect(failure(() => plan(text))).toMatchObject({ exit: 2, code, message });
  });
});

interface Imported {
  features: { id: string; name: string; tests?: string[]; blocked_by?: unknown }[];
  known: string[];
}

describe('forge feature import', () => {
  it('FEA-01 imports hundreds from a JSON file at once; a second run finds them all known', async () => {
    const project = await makeForge();
    const list = Array.from({ length: 300 }, (_, i) => ({
      id: `F-${i}`,
      name: `Feature ${i}`,
      tests: ['node -e 0'],
      ...(i === 0 ? {} : { blocked_by: `F-${i - 1}` }),
    }));
    project.write('list.json', JSON.stringify({ features: list }));
    const { features, known } = await forgeJson<Imported>(project, ['feature', 'import', 'list.json']);
    expect([features.length, known.length]).toEqual([300, 0]);
    expect(features[299]).toMatchObject({ id: 'F-299', tests: ['node -e 0'], blocked_by: 'F-298' });
    const bytes = project.read(FEATURES);
    const again = await runForge(project, ['feature', 'import', 'list.json']);
    expect(again.stdout).toBe('0 imported, 300 known already\n');
    expect(project.read(FEATURES)).toBe(bytes);
    // Tests from a file were not typed here.
    await expectError(project, ['feature', 'verify', 'F-0'], '3 trust.needed');
  });

  it('FEA-01 warns of a blocker that is no feature, here or in the list, and no issue', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'A', 'Here']);
    const stdin = JSON.stringify([
      { id: 'B', name: 'One', blocked_by: ['A', 'nope', 'C'] },
      { id: 'C', name: 'Two', blocked_by: 'a' },
    ]);
    const { stdout, stderr, exitCode } = await runForge(project, ['feature', 'import', '-'], { stdin });
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('2 imported')]);
    expect(stderr).toMatch(/blocked_by names no feature here: nope\n/);
  });
});
