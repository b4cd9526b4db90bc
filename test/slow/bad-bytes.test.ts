import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { forgeError, peakTo, runBinary, runForge } from '../support/forge.js';
import { CONFIG, differences, FEATURES, makePlainForge, snapshot } from '../support/forge-project.js';
import { expectDamaged, FILES, prepared } from '../support/state-files.js';

const JSON_FILES = FILES.filter(({ path }) => path !== CONFIG);

describe('bad bytes in state files', () => {
  it('B-13 a byte-order mark, UTF-16 and bytes that are no UTF-8: exit 4 with the byte offset', async () => {
    const project = await prepared(makePlainForge);
    for (const file of FILES) {
      const good = Buffer.from(project.read(file.path));
      for (const [bytes, offset] of [
        [Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), good]), 0],
        [Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(good.toString(), 'utf16le')]), 0],
        [Buffer.concat([good.subarray(0, 30), Buffer.from([0xe9]), good.subarray(30)]), 30],
        [Buffer.concat([good, Buffer.from([0xc3])]), good.length],
        [Buffer.concat([Buffer.from('"\ufffd'), Buffer.from([0xed, 0xa0, 0x80])]), 4],
      ] as const) {
        const error = await expectDamaged(project, file, bytes);
        expect([file.path, error.code, error.offset]).toEqual([file.path, 'file.encoding', offset]);
        expect(error.message).toContain(`byte ${offset}`);
      }
    }
  });

  it('B-13 the same bytes as input are exit 2, and nothing is written', async () => {
    const project = await prepared();
    const before = snapshot(project.dir);
    for (const [stdin, offset] of [
      [Buffer.from('\ufefftext', 'utf16le'), 0],
      [Buffer.from([0x61, 0x62, 0xff, 0x63]), 2],
    ] as const)
      for (const args of [
        ['progress', 'add', '-'],
        ['knowledge', 'add', 'invariant', '-'],
        ['feature', 'add', 'A', '-'],
        ['feature', 'import', '-'],
        ['focus', 'set', '--task', '-'],
      ])
        expect(await forgeError(project, args, { stdin })).toMatchObject({
          exitCode: 2,
          code: 'input.encoding',
          offset,
        });
    expect(differences(before, snapshot(project.dir))).toEqual([]);
  });

  it('B-14 a key that is duplicated or reaches the prototype: exit 4', async () => {
    const project = await prepared(makePlainForge);
    for (const file of JSON_FILES) {
      const good = project.read(file.path).trimEnd().slice(0, -1);
      for (const [more, words] of [
        ['"schema_version": "1.0"', /"schema_version" is duplicated/],
        ['"x": {"a": 1, "\\u0061": 2}', /"a" is duplicated/],
        ['"__proto__": {"polluted": true}', /"__proto__" is not allowed/],
        ['"x": [{"\\u005f_proto__": 1}]', /"__proto__" is not allowed/],
        ['"constructor": {"prototype": {}}', /"constructor" is not allowed/],
      ] as const)
        expect((await expectDamaged(project, file, `${good},${more}}`)).message).toMatch(words);
    }
    const config = FILES[4];
    await expectDamaged(project, config, 'schema_version = 1\nschema_version = 1\n');
    await expectDamaged(project, config, '[briefing]\nbudget = 900\n[briefing]\nbudget = 901\n');
    for (const name of ['__proto__', 'constructor']) {
      project.write(CONFIG, `[${name}]\npolluted = true\n`);
      expect(await runForge(project, ['config', 'list'])).toMatchObject({
        exitCode: 0,
        stderr: expect.stringContaining(name),
      });
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('B-16 a number that cannot be written back as it was: exit 4, as input exit 2', async () => {
    const project = await prepared(makePlainForge);
    for (const file of JSON_FILES) {
      const good = project.read(file.path).trimEnd().slice(0, -1);
      for (const number of ['1e400', '-1e400', '9007199254740993', '-0', '-0.0', '1e21'])
        expect((await expectDamaged(project, file, `${good},"x":[${number}]}`)).message).toContain(number);
    }
    for (const value of ['1e400', '9007199254740993', '-0'])
      await expectDamaged(project, FILES[4], `[briefing]\nbudget = ${value}\n`);
    for (const number of ['1e400', '9007199254740993', '-0', '1.5', '-1'])
      expect(
        (
          await forgeError(project, ['feature', 'import', '-'], {
            stdin: `[{"name":"a","priority":${number}}]`,
          })
        ).exitCode,
      ).toBe(2);
  });

  it('B-15 depth, length and number of keys are refused before parsing', async () => {
    const project = await prepared(makePlainForge);
    const parse = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parse.mockRestore());
    const million = Array.from({ length: 1_000_000 }, (_, i) => i);
    const json = [
      '['.repeat(100_000),
      '{"a":'.repeat(100_000),
      `{"schema_version":"1.0","x":"${'a'.repeat(50_000_000)}"}`,
      `{${million.map((i) => `"k${i}":1`).join(',')}}`,
      `{${million
        .slice(0, 250_000)
        .map((i) => `"${i}":1`)
        .join(',')}}`,
    ];
    const toml = [
      `a = ${'['.repeat(100_000)}`,
      `a${'.a'.repeat(100_000)} = 1`,
      `a = "${'a'.repeat(50_000_000)}"`,
      million.map((i) => `k${i} = 1`).join('\n'),
      `[${'a.'.repeat(100_000)}a]`,
    ];
    for (const file of FILES) {
      const huge = file.path === CONFIG ? toml : json;
      const good = project.read(file.path);
      for (const [n, text] of huge.entries()) {
        project.write(file.path, text);
        const { exitCode, stderr } = await runForge(project, file.read);
        expect([file.path, n, exitCode, stderr.length < 400]).toEqual([file.path, n, 4, true]);
        expect(parse.mock.calls.filter(([given]) => given === text)).toHaveLength(0);
      }
      project.write(file.path, good);
    }
  });

  it('B-15 nor does it take memory: below 100 MB in all', async () => {
    const project = await prepared(makePlainForge);
    const env = peakTo(project.path('peak'));
    for (const text of [
      '{"a":'.repeat(100_000),
      `{"schema_version":"1.0","x":"${'a'.repeat(50_000_000)}"}`,
      `{${Array.from({ length: 1_000_000 }, (_, i) => `"${i}":1`).join(',')}}`,
      `{${Array.from({ length: 250_000 }, (_, i) => `"${i}":1`).join(',')}}`,
    ]) {
      project.write(FEATURES, text);
      expect(runBinary(project.dir, ['feature', 'list'], { env }).exitCode).toBe(4);
      expect(Number(project.read('peak')) / 1024).toBeLessThan(100);
    }
  });
});
