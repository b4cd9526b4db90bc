import { describe, expect, it } from 'vitest';
import { forgeError, forgeJson, runForge } from '../support/forge.js';
import { FEATURES, makeForge } from '../support/forge-project.js';

interface Imported {
  features: { id: string; name: string; tests?: string[]; blocked_by?: unknown }[];
  known: string[];
}

describe('forge feature import', () => {
  it('FEA-01 takes hundreds from a JSON file at once, and a second run finds them all known', async () => {
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
    // Tests that came in a file were not typed here.
    expect(await forgeError(project, ['feature', 'verify', 'F-0'])).toMatchObject({
      exitCode: 3,
      code: 'trust.needed',
    });
  });

  it('FEA-01 takes a Markdown list, keeps its ids and numbers the rest', async () => {
    const project = await makeForge();
    await forgeJson(project, ['feature', 'add', 'FORGE-007', 'Known']);
    const text =
      '# Plan\n\nSome words.\n\n- [ ] FORGE-001: Login works\n- [x] Logout\n* known\n1. Reset — by mail\n   - nested\n';
    const { features, known } = await forgeJson<Imported>(project, ['feature', 'import', '-'], {
      stdin: text,
    });
    expect(features.map(({ id, name }) => [id, name])).toEqual([
      ['FORGE-001', 'Login works'],
      ['FORGE-008', 'Logout'],
      ['FORGE-009', 'Reset — by mail'],
      ['FORGE-010', 'nested'],
    ]);
    expect(known).toEqual(['known']);
  });

  it('FEA-01 imports all or nothing, and names the place that is wrong', async () => {
    const project = await makeForge();
    const before = project.read(FEATURES);
    for (const [text, place] of [
      ['[{"name":"a"},\n{"name":"b","status":"done"}]', { field: 'features[1].status' }],
      ['[{"name":"a"},\n{"name":"b",}]', { line: 2 }],
      ['[{"name":"a"},{"tests":[]}]', { field: 'features[1].name' }],
      ['[{"id":"ok","name":"a"},{"id":"../x","name":"b"}]', { code: 'id.invalid' }],
      ['[{"name":"a","priority":9}]', { field: 'features[0].priority' }],
      ['[{"name":"a","id":"A","blocked_by":["A"]}]', { code: 'feature.cycle' }],
      ['{"features":5}', { field: 'features' }],
      ['- one\n- two\u0007\n', { code: 'text.hidden_character' }],
      ['just words\n', { code: 'import.empty' }],
      ['', { code: 'import.empty' }],
    ] as const)
      expect([text, await forgeError(project, ['feature', 'import', '-'], { stdin: text })]).toEqual([
        text,
        expect.objectContaining({ exitCode: 2, ...place }),
      ]);
    expect(await forgeError(project, ['feature', 'import', 'no-such.md'])).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('no-such.md'),
    });
    expect(project.read(FEATURES)).toBe(before);
  });
});
