import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { type ParseError, parse } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { digestText, insertionsIn, planFile } from '../../src/agent/plan.js';
import { settings } from '../support/agent-settings.js';
import { install, PARTS, refusal, uninstall } from '../support/plans.js';
import { block, file, hookGroup, json, table } from '../support/wirings.js';

const read = (text: string): unknown => {
  const errors: ParseError[] = [];
  const value: unknown = parse(text.replace(/^\ufeff/, ''), errors, { allowTrailingComma: true });
  expect(errors).toEqual([]);
  return value;
};
type Value = { hooks?: Record<string, unknown[]>; mcpServers?: Record<string, unknown> };

/** The settings with forge's entries after what was there. */
function withForge(value: Value): Value {
  const { hooks = {}, mcpServers = {} } = value;
  const added = Object.fromEntries(
    ['Start', 'Stop'].map((event) => [event, [...(hooks[event] ?? []), hookGroup('claude', event)]]),
  );
  const server = { command: 'forge', args: ['mcp'] };
  return { ...value, hooks: { ...hooks, ...added }, mcpServers: { ...mcpServers, forge: server } };
}

/** Uninstall without a manifest removes lists and objects that it empties: nobody knows whether they were there before. */
const emptied = (value: Value): Value => {
  const hooks = Object.entries(value.hooks ?? {}).filter(([, list]) => list.length > 0);
  const { hooks: _, mcpServers = {}, ...rest } = value;
  return {
    ...rest,
    ...(hooks.length > 0 && { hooks: Object.fromEntries(hooks) }),
    ...(Object.keys(mcpServers).length > 0 && { mcpServers }),
  };
};

const BARE = '{\n  "hooks": {\n    "Stop": []\n  }\n}\n';

describe('forge in a JSON settings file', () => {
  it('AGT-01 is added after existing content, and removed byte for byte', () => {
    fc.assert(
      fc.property(settings, ({ text, value }) => {
        const wired = install(text, PARTS);
        expect(read(wired.text as string)).toEqual(withForge(value as Value));
        expect(uninstall(wired.text, PARTS, wired.record)).toEqual({ text, record: null });
        expect(install(wired.text, PARTS, wired.record)).toEqual(wired);
      }),
      { numRuns: 200 },
    );
  });

  it('AGT-01 keeps every byte of the text, and records only offsets and lengths', () => {
    fc.assert(
      fc.property(settings, ({ text }) => {
        const { text: after, record } = install(text, PARTS);
        expect(Object.keys(record ?? {})).toEqual(['before', 'after', 'insertions']);
        const kept = [...(after as string)];
        expect(kept.length).toBeGreaterThan([...text].length);
        expect(record?.before).toBe(digestText(text));
      }),
    );
  });

  it('AGT-01 is removed without a record, and everything else stays the same', () => {
    fc.assert(
      fc.property(settings, ({ text, value }) => {
        const after = uninstall(install(text, PARTS).text, PARTS);
        const expected = emptied(value as Value);
        expect(after.record).toBeNull();
        if (after.text === null) expect(expected).toEqual({});
        else expect(emptied(read(after.text) as Value)).toEqual(expected);
        // If nothing was empty before, byte for byte.
        if (after.text !== null && Object.keys(value).length > 0 && isDeepStrictEqual(expected, value))
          expect(after.text).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  it('AGT-01 is replaced when another command wrote it, with or without a record', () => {
    fc.assert(
      fc.property(settings, fc.boolean(), ({ text, value }, isNoted) => {
        const old = [json('claude', ['Stop', 'Gone'], { command: 'npx --no-install forge', server: true })];
        const before = install(text, old);
        const after = install(before.text, PARTS, isNoted ? before.record : null);
        const expected = withForge(value as Value);
        const found = read(after.text as string) as Value;
        expect({ ...found, hooks: emptied(found).hooks }).toEqual({
          ...expected,
          hooks: emptied(expected).hooks,
        });
        if (isNoted) expect(uninstall(after.text, PARTS, after.record).text).toBe(text);
      }),
      { numRuns: 100 },
    );
  });
});

describe('the layout of a JSON settings file', () => {
  it.each([
    [
      'a new file',
      null,
      '{\n  "mcpServers": {\n    "forge": {\n      "command": "forge",\n      "args": [\n        "mcp"\n      ]\n    }\n  }\n}\n',
    ],
    ['a file on one line', '{"a":1}', '{"a":1, "mcpServers":{"forge":{"command":"forge","args":["mcp"]}}}'],
    [
      'tabs, CRLF, a BOM and a trailing comma with its comment',
      '\ufeff{\r\n\t"a": 1, // why\r\n}',
      '\ufeff{\r\n\t"a": 1, // why\r\n\t"mcpServers": {\r\n\t\t"forge": {\r\n\t\t\t"command": "forge",\r\n\t\t\t"args": [\r\n\t\t\t\t"mcp"\r\n\t\t\t]\r\n\t\t}\r\n\t},\r\n}',
    ],
    [
      'a comment after the last value stays with it',
      '{\n    "a": 1 // why\n    // "b": 2\n}\n',
      '{\n    "a": 1, // why\n    // "b": 2\n    "mcpServers": {\n        "forge": {\n            "command": "forge",\n            "args": [\n                "mcp"\n            ]\n        }\n    }\n}\n',
    ],
  ])('AGT-01 %s', (_, before, after) => {
    const parts = [json('claude', [], { server: true })];
    const wired = install(before, parts);
    expect(wired.text).toBe(after);
    expect(uninstall(after, parts, wired.record).text).toBe(before);
  });

  it("AGT-01 an edited file loses only forge's entries", () => {
    const wired = install('{\n  "a": 1\n}\n', PARTS).text as string;
    const edited = wired
      .replace('"a": 1', '"a": 2 /* mine */')
      .replace('"hooks": {', '"hooks": { // all of them');
    expect(uninstall(edited, PARTS).text).toBe(
      '{\n  "a": 2 /* mine */,\n  "hooks": { // all of them\n  }\n}\n',
    );
  });

  it('AGT-01 a list that was empty is empty again', () => {
    const wired = install(BARE, PARTS);
    expect(uninstall(wired.text, PARTS, wired.record).text).toBe(BARE);
  });

  it("AGT-01 a person's hook in forge's group stays", () => {
    const mixed = hookGroup('claude', 'Stop');
    mixed.hooks.push({ type: 'command', command: 'mine', timeout: 1 });
    const text = JSON.stringify({ hooks: { Stop: [mixed] } }, null, 2);
    const after = read(uninstall(text, PARTS).text as string);
    expect(after).toEqual({ hooks: { Stop: [{ matcher: '*', hooks: [mixed.hooks[1]] }] } });
    expect(read(install(text, [json('claude', ['Stop'])]).text as string)).toEqual({
      hooks: { Stop: [{ matcher: '*', hooks: [mixed.hooks[1]] }, hookGroup('claude', 'Stop')] },
    });
  });

  it('AGT-01 a file that forge created is removed only if nothing else is in it', () => {
    const parts = [json('cursor', ['stop'], { beginning: { version: 1 } })];
    const wired = install(null, parts);
    expect(read(wired.text as string)).toEqual({
      version: 1,
      hooks: { stop: [hookGroup('cursor', 'stop')] },
    });
    expect(uninstall(wired.text, parts, wired.record).text).toBeNull();
    const touched = (wired.text as string).replace('{\n', '{\n\n');
    expect(uninstall(touched, parts, wired.record).text).toBeNull();
    const edited = (wired.text as string).replace('"version"', '"mine": true,\n  "version"');
    expect(uninstall(edited, parts, wired.record).text).toBe('{\n  "mine": true,\n  "version": 1\n}\n');
  });

  it('AGT-01 removing one of two agents leaves what the other would have alone', () => {
    const [one, two] = [[json('claude', ['Stop'])], [json('codex', ['Stop'])]];
    const first = install('{}\n', one);
    const both = planFile({
      text: first.text,
      record: first.record,
      wanted: [...one, ...two],
      put: two,
      drop: [],
    });
    const left = planFile({
      text: both.text,
      record: both.record,
      wanted: two,
      put: [],
      drop: one,
    });
    expect(left.text).toBe(install('{}\n', two).text);
    expect(uninstall(left.text, two, left.record).text).toBe('{}\n');
  });
});

const UNSAFE = 'it is laid out in a way that forge cannot edit safely';

describe('forge refuses to edit', () => {
  it.each<[string, string, [string, number | null]]>([
    ['invalid JSON', '{\n  "a": ,\n}', ['it is not JSON (value expected)', 2]],
    ['truncated JSON', '{\n  "a": {', ['it is not JSON (close brace expected)', 2]],
    ['a list', '\n[]', ['it contains no JSON object', 2]],
    ['hooks that are a string', '{\n"hooks": "x"}', ['"hooks" is not an object, but string', 2]],
    ['hooks that are a list', '{\n"hooks": []}', ['"hooks" is not an object, but array', 2]],
    [
      'an event that is an object',
      '{"hooks": {\n"Stop": {}}}',
      ['"hooks.Stop" is not a list, but object', 2],
    ],
    ['duplicate keys', '{\n"hooks": {},\n"hooks": {}}', [UNSAFE, null]],
    ['duplicate events', '{"hooks": {"Stop": [],\n"Stop": []}}', [UNSAFE, null]],
    [
      "another's server",
      '{"mcpServers": {\n"forge": {"command": "x"}}}',
      ['"mcpServers.forge" is there already and is not forge\'s', 2],
    ],
  ])('AGT-01 %s', (_, text, expected) => {
    expect(refusal(text)).toEqual(expected);
  });

  it('AGT-01 deep nesting without a stack overflow', () => {
    expect(refusal(`{"a":\n${'['.repeat(100_000)}`)).toEqual(['it is nested too deeply', 1]);
    const deep = `{"a": ${'['.repeat(90)}${']'.repeat(90)}}`;
    expect(uninstall(install(deep, PARTS).text, PARTS).text).toBe(deep);
  });

  it('AGT-01 but accepts duplicate keys elsewhere', () => {
    const text = '{"a": 1, "a": 2}';
    expect(install(text, PARTS).text).toContain('"a": 1, "a": 2');
  });
});

const TOML = [table()];

describe('forge in a TOML file', () => {
  it.each([
    null,
    '',
    '# mine\n',
    'a = 1',
    'a = 1\r\n[mcp_servers.other]\r\ncommand = "x"\r\n',
    '\ufeffa = 1\n\n',
  ])('AGT-01 adds a table at the end of %j, and removes it byte for byte', (text) => {
    const wired = install(text, TOML);
    const value = parseToml((wired.text as string).replace(/^\ufeff/, ''));
    expect(value).toMatchObject({ mcp_servers: { forge: { command: 'forge', args: ['mcp'] } } });
    expect(install(wired.text, TOML, wired.record)).toEqual(wired);
    expect(uninstall(wired.text, TOML, wired.record)).toEqual({ text, record: null });
  });

  it('AGT-01 replaces an older table, and removes it with its sub-tables, without a record', () => {
    const text =
      'a = 1\n\n[mcp_servers.forge]\ncommand = "npx"\nargs = ["forge", "mcp"]\n[mcp_servers.forge.env]\nX = "1"\n\n# next\n[z]\nb = 2\n';
    const after = install(text, TOML);
    expect(after.text).toBe(
      'a = 1\n\n# next\n[z]\nb = 2\n\n[mcp_servers.forge]\ncommand = "forge"\nargs = ["mcp"]\n',
    );
    expect(after.record?.before).toBe('unknown');
    expect(uninstall(after.text, TOML).text).toBe('a = 1\n\n# next\n[z]\nb = 2\n');
    expect(uninstall(text, TOML).text).toBe('a = 1\n\n# next\n[z]\nb = 2\n');
  });

  it.each<[string, string, [string, number | null]]>([
    ['invalid TOML', 'a = 1\nb =\n', [expect.stringMatching(/^it is not TOML/) as never, 2]],
    [
      "another's table",
      '\n[mcp_servers.forge]\ncommand = "x"\n',
      ['"mcp_servers.forge" is there already and is not forge\'s', 2],
    ],
    [
      'dotted keys',
      'mcp_servers.forge.command = "npx"\nmcp_servers.forge.args = ["forge", "x", "mcp"]\n',
      ['it is laid out in a way that forge cannot edit safely', null],
    ],
    [
      'a parent on one line',
      'mcp_servers = { x = { command = "y" } }\n',
      ['it is laid out in a way that forge cannot edit safely', null],
    ],
  ])('AGT-01 refuses %s', (_, text, expected) => {
    expect(refusal(text, TOML)).toEqual(expected);
  });
});

const BLOCK = [block()];
const NO_PAIR = '<!-- forge:begin --> and <!-- forge:end --> are not one pair';

describe('forge in a Markdown file', () => {
  it.each([null, '', '# Mine\n', '# Mine', '# Mine\r\n\r\nText\r\n', '# Mine\n\n', '\ufeff# Mine\n'])(
    'AGT-01 adds a marked block at the end of %j, and removes it byte for byte',
    (text) => {
      const wired = install(text, BLOCK);
      expect(wired.text).toMatch(/<!-- forge:begin -->\r?\nUse forge\.\r?\n<!-- forge:end -->/);
      expect(uninstall(wired.text, BLOCK, wired.record)).toEqual({ text, record: null });
    },
  );

  it('AGT-01 replaces the block in place, and removes it from an edited text', () => {
    const wired = install('# Mine\n', [block('Old.')]).text as string;
    const edited = `${wired}\nMore.\n`;
    expect(install(edited, BLOCK).text).toBe(edited.replace('Old.', 'Use forge.'));
    expect(uninstall(edited, BLOCK).text).toBe('# Mine\n\nMore.\n');
  });

  it.each<[string, string, [string, number]]>([
    ['a begin mark only', 'a\n<!-- forge:begin -->\n', [NO_PAIR, 2]],
    ['an end mark only', '<!-- forge:end -->', [NO_PAIR, 1]],
    [
      'two blocks',
      '<!-- forge:begin -->\n<!-- forge:end -->\n<!-- forge:begin -->\n<!-- forge:end -->\n',
      [NO_PAIR, 1],
    ],
    ['an end mark first', '<!-- forge:end -->\n<!-- forge:begin -->\n', [NO_PAIR, 2]],
  ])('AGT-01 refuses %s', (_, text, expected) => {
    expect(refusal(text, BLOCK)).toEqual(expected);
  });
});

describe("forge's own file", () => {
  const parts = [file()];

  it('AGT-01 is written, replaced and removed; a foreign file is refused', () => {
    const wired = install(null, parts);
    expect(uninstall(wired.text, parts, wired.record).text).toBeNull();
    const newer = [file('// forge agent install\nnewer();\n')];
    expect(install(wired.text, newer, wired.record).text).toBe('// forge agent install\nnewer();\n');
    expect(install(`${wired.text}mine();\n`, newer).text).toBe('// forge agent install\nnewer();\n');
    expect(uninstall(`${wired.text}mine();\n`, parts).text).toBeNull();
    expect(refusal('mine();\n', parts)).toEqual(["it is there already and is not forge's", null]);
    expect(uninstall('mine();\n', parts)).toEqual({ text: 'mine();\n', record: null });
  });
});

describe('insertions', () => {
  it('AGT-01 restore the text from before, and are null where something was replaced', () => {
    const edits = fc.array(fc.tuple(fc.nat(), fc.string({ minLength: 1, maxLength: 4 })), { maxLength: 8 });
    fc.assert(
      fc.property(fc.string(), edits, (text, steps) => {
        let after = text;
        for (const [at, inserted] of steps) {
          const offset = at % (after.length + 1);
          after = after.slice(0, offset) + inserted + after.slice(offset);
        }
        let rest = after;
        for (const { offset, length } of insertionsIn(text, after)?.toReversed() ?? [])
          rest = rest.slice(0, offset) + rest.slice(offset + length);
        expect(rest).toBe(text);
      }),
    );
    expect(insertionsIn('abc', 'ac')).toBeNull();
  });
});
