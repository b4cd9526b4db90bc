import fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { setTomlValue } from '../../src/core/toml.js';

const FILE = `# Settings
schema_version = 1

[session]
# Commit?
#commit = true
silence_minutes = 10 # it's enough

[features] # tests
test_command = "a # b" # the "runner"
timeout_seconds = 600

# About the last one
[last]
x = 1
`;

describe('setTomlValue', () => {
  it.each<[string, string, string, string | number | boolean | string[], string, string]>([
    ['a value, its comment with a quote kept', 'session', 'silence_minutes', 5, '10 # it', '5 # it'],
    ['a quoted value with a # in it', 'features', 'test_command', 'c', '"a # b"', '"c"'],
    ['a value by one with quotes', 'features', 'test_command', 'x "#" \\', '"a # b"', '"x \\"#\\" \\\\"'],
    ['a commented default', 'session', 'commit', false, '= true\n', '= true\ncommit = false\n'],
    ['an absent key, at the end of its table', 'features', 'later', true, '600\n', '600\nlater = true\n'],
    ['an absent key in the last table', 'last', 'y', 2, 'x = 1\n', 'x = 1\ny = 2\n'],
    ['an absent table', 'new', 'z', 3, 'x = 1\n', 'x = 1\n\n[new]\nz = 3\n'],
    ['a list', 'last', 'y', ['a "b"', 'c'], 'x = 1\n', 'x = 1\ny = ["a \\"b\\"","c"]\n'],
  ])('LAY-06 sets %s, and no other byte changes', (_name, table, key, value, before, after) => {
    const changed = setTomlValue(FILE, table, key, value);
    expect(changed).toBe(FILE.replace(before, () => after));
    expect(parse(changed)).toHaveProperty([table, key], value);
  });

  it.each([
    ['without a value to compare', 'x = "a" # b', 'x = 1 # b'],
    ['of a literal text', "x = 'a # \"b' # it's", "x = 1 # it's"],
    ['behind no space', 'x = true# c', 'x = 1# c'],
    ['that is none', 'x = "a#b"', 'x = 1'],
    ['behind an escaped quote', 'x = "a\\" # b" # c', 'x = 1 # c'],
    ['of a quoted key', '"x" = 2   # c', 'x = 1   # c'],
    ['of a list', 'x = ["a # b", \'"]\'] # c', 'x = 1 # c'],
    ['of a list of several lines', 'x = [ # a ]\n  "a",\n]  # c\ny = "b" # d', 'x = 1  # c\ny = "b" # d'],
  ])('LAY-06 keeps the comment %s', (_name, before, after) => {
    expect(setTomlValue(`[t]\n${before}\n`, 't', 'x', 1)).toBe(`[t]\n${after}\n`);
  });

  it.each([
    ['session', 'silence_minutes'],
    ['session', 'commit'],
    ['session', 'absent'],
    ['features', 'test_command'],
    ['absent', 'x'],
  ])('LAY-06 keeps CRLF when it sets %s.%s', (table, key) => {
    const changed = setTomlValue(FILE.replaceAll('\n', '\r\n'), table, key, 7);
    expect(changed).toBe(setTomlValue(FILE, table, key, 7).replaceAll('\n', '\r\n'));
  });

  it('LAY-06 sets any text and keeps the rest', () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom('$&', ...'"\'\\#=\n\t []a\u007f\u0085') }),
      fc.string({ unit: 'binary' }).filter((one) => one.isWellFormed()),
    );
    fc.assert(
      fc.property(text, text, (first, second) => {
        const once = setTomlValue(FILE, 'features', 'test_command', first);
        const twice = setTomlValue(once, 'features', 'test_command', second);
        const before = parse(FILE) as { features: object };
        expect(parse(twice)).toEqual({ ...before, features: { ...before.features, test_command: second } });
        expect(twice).toContain(' # the "runner"\n');
      }),
      { numRuns: 300 },
    );
  });
});
