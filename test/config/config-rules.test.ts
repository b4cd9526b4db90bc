import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { configSchema, decodeConfig, SETTINGS } from '../../src/project/config.js';
import { failure } from '../support/failure.js';

const file = '.forge/config.toml';
const template = readFileSync(new URL('../../templates/forge/config.toml', import.meta.url), 'utf8');

describe('config.toml', () => {
  it('LAY-06 as init writes it has the defaults', () => {
    const { config, warnings } = decodeConfig(template.replace('{{project}}', 'sample'), file);
    expect(config).toEqual({ ...configSchema().parse({}), project: { name: 'sample' } });
    expect(warnings).toEqual([]);
  });

  it('LAY-06 as init writes it shows every setting with its default', () => {
    const shown = decodeConfig(template.replaceAll(/^#(\w+ = )/gm, '$1'), file);
    expect(shown).toMatchObject({
      warnings: [],
      config: { ...configSchema().parse({}), project: expect.anything() },
    });
    for (const name of SETTINGS) expect(template).toMatch(new RegExp(`^#?${name.split('.').at(-1)} = `, 'm'));
  });

  it.each([
    ['[session]\n# seconds\nreverify_seconds = 0', 3, 'session.reverify_seconds', '0', 'at least 1'],
    ['[session]\nreverify = 1001', 2, 'session.reverify', '1001', 'at most 1000'],
    ['[session]\ncommit = "yes"', 2, 'session.commit', '"yes"', 'boolean'],
    ['[features]\ntimeout_seconds = 1.5', 2, 'features.timeout_seconds', '1.5', 'a whole number'],
    ['[features]\ntest_command = 7', 2, 'features.test_command', '7', 'string'],
    ['[project]\n\n\n[ briefing ] # tokens\n"budget" = 199', 5, 'briefing.budget', '199', 'at least 200'],
    ['["session"]\ncommit = 1', 2, 'session.commit', '1', 'boolean'],
    ['# one\nsession = { commit = 1 }', 2, 'session.commit', '1', 'boolean'],
    ['# one\n\nsession.commit = 1', 3, 'session.commit', '1', 'boolean'],
    ['\nsession = 5', 2, 'session', '5', 'object'],
    ['#\nschema_version = "1"', 2, 'schema_version', '"1"', '1'],
    ['[session]\r\n\r\ncommit = 1\r\n', 3, 'session.commit', '1', 'boolean'],
  ])('LAY-06 names file, line, key, what it found and allows: %j', (text, line, field, found, allowed) => {
    const error = failure(() => decodeConfig(text, file));
    expect(error).toMatchObject({ exit: 4, code: 'config.value', details: { file, line, field } });
    expect(error.message).toBe(`${file}:${line}: ${field}: found ${found}, allowed: ${allowed}.`);
  });

  it.each([
    ['[session]\ncommit = ', 2],
    ['[session\n', 1],
    ['a = 1\na = 2', 2],
    ['[session]\ncommit = true\n[session]\n', 3],
    ['a = "\u0000"', 1],
    ['<<<<<<< HEAD\na = 1', 1],
  ])('B-12 LAY-06 names the line where %j is not TOML', (text, line) => {
    const error = failure(() => decodeConfig(text, file));
    expect(error).toMatchObject({ exit: 4, code: 'config.toml', details: { file, line } });
    expect(error.message).toMatch(new RegExp(`^${file}:${line}: [^\n]+\\.$`));
  });

  it.each([
    ['[session]\ncolour = "red"', 'session.colour'],
    ['[later]\nx = 1', 'later.x'],
    ['later = 1', 'later'],
    ['[constructor]\nx = 1', 'constructor.x'],
  ])('LAY-06 keeps and names an unknown setting: %j', (text, name) => {
    const { warnings, config } = decodeConfig(text, file);
    expect(warnings).toEqual([`${file}: ${name} is not a setting of this version; it is kept and ignored.`]);
    expect(config.session.commit).toBe(true);
  });

  it('B-06 escapes a hostile key', () => {
    const { warnings } = decodeConfig('"a\\u001b[2J\\n" = 1', file);
    expect(warnings).toEqual([
      `${file}: a<U+001B>[2J is not a setting of this version; it is kept and ignored.`,
    ]);
  });
});
