import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { type ParseError, parse } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { Draft } from '../../../src/domain/agent/draft.js';
import type { Part } from '../../../src/domain/agent/edit-fixture.js';
import type { FileRecord } from '../../../src/domain/agent/manifest.js';
import { digestText, type FilePlan, planFile } from '../../../src/domain/agent/wiring-plan.js';
import { settings } from './settings.js';
import { block, file, hookGroup, item, member, table } from './wirings.js';

const install = (text: string | null, parts: readonly Part[], record: FileRecord | null = null): FilePlan =>
  planFile({ text, record, wanted: parts, put: parts, drop: [], folders: [] });
const uninstall = (text: string | null, parts: readonly Part[], record: FileRecord | null = null): FilePlan =>
  planFile({ text, record, wanted: [], put: [], drop: parts, folders: [] });

const read = (text: string): unknown => {
  const errors: ParseError[] = [];
  const value: unknown = parse(text.replace(/^\ufeff/, ''), errors, { allowTrailingComma: true });
  expect(errors).toEqual([]);
  return value;
};

const PARTS = [item('claude', 'Start'), item('claude', 'Stop'), member('claude')];
type Value = { hooks?: Record<string, unknown[]>; mcpServers?: Record<string, unknown> };

/** What the settings say once forge is in them: behind all that was there. */
function withForge(value: Value): Value {
  const { hooks = {}, mcpServers = {} } = value;
  const added = Object.fromEntries(
    ['Start', 'Stop'].map((event) => [event, [...(hooks[event] ?? []), hookGroup('claude', event)]]),
  );
  const server = { command: 'forge', args: ['mcp'] };
  return { ...value, hooks: { ...hooks, ...added }, mcpServers: { ...mcpServers, forge: server } };
}

/** Lists and objects that hold nothing go with what was in them: nobody noted whether they were there before. */
const emptied = (value: Value): Value => {
  const hooks = Object.entries(value.hooks ?? {}).filter(([, list]) => list.length > 0);
  const { hooks: _, mcpServers = {}, ...rest } = value;
  return {
    ...rest,
    ...(hooks.length > 0 && { hooks: Object.fromEntries(hooks) }),
    ...(Object.keys(mcpServers).length > 0 && { mcpServers }),
  };
};

describe('forge in a file of settings', () => {
  it('AGT-01 is added behind what is there, and taken out to the very bytes', () => {
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

  it('AGT-01 keeps every byte of the text: only places and lengths are noted', () => {
    fc.assert(
      fc.property(settings, ({ text }) => {
        const { text: after, record } = install(text, PARTS);
        expect(Object.keys(record?.left[0] ?? {})).toEqual(['sha256', 'insertions']);
        const kept = [...(after as string)];
        expect(kept.length).toBeGreaterThan([...text].length);
        expect(record?.before).toBe(digestText(text));
      }),
    );
  });

  it('AGT-01 is taken out without any notes, and all else still says the same', () => {
    fc.assert(
      fc.property(settings, ({ text, value }) => {
        const after = uninstall(install(text, PARTS).text, PARTS);
        const expected = emptied(value as Value);
        expect(after.record).toBeNull();
        if (after.text === null) expect(expected).toEqual({});
        else expect(emptied(read(after.text) as Value)).toEqual(expected);
        // Where nothing was empty before, to the very bytes.
        if (after.text !== null && Object.keys(value).length > 0 && isDeepStrictEqual(expected, value))
          expect(after.text).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  it('AGT-01 is replaced in place when it comes from another command, with or without notes', () => {
    fc.assert(
      fc.property(settings, fc.boolean(), ({ text, value }, isNoted) => {
        const old = [
          item('claude', 'Stop', 'npx forge'),
          item('claude', 'Gone', 'npx forge'),
          member('claude', 'npx forge'),
        ];
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

const BARE = '{\n  "hooks": {\n    "Stop": []\n  }\n}\n';

describe('the layout of a file of settings', () => {
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
      'a comment behind the last value stays with it',
      '{\n    "a": 1 // why\n    // "b": 2\n}\n',
      '{\n    "a": 1, // why\n    // "b": 2\n    "mcpServers": {\n        "forge": {\n            "command": "forge",\n            "args": [\n                "mcp"\n            ]\n        }\n    }\n}\n',
    ],
  ])('AGT-01 %s', (_, before, after) => {
    const wired = install(before, [member('claude')]);
    expect(wired.text).toBe(after);
    expect(uninstall(after, [member('claude')], wired.record).text).toBe(before);
  });

  it("AGT-01 an edited file loses only what is forge's, comments and all else keep their bytes", () => {
    const wired = install('{\n  "a": 1\n}\n', PARTS).text as string;
    const edited = wired
      .replace('"a": 1', '"a": 2 /* mine */')
      .replace('"hooks": {', '"hooks": { // all of them');
    expect(uninstall(edited, PARTS).text).toBe(
      '{\n  "a": 2 /* mine */,\n  "hooks": { // all of them\n  }\n}\n',
    );
  });

  it('AGT-01 a list that was empty before is empty again', () => {
    const wired = install(BARE, PARTS);
    expect(uninstall(wired.text, PARTS, wired.record).text).toBe(BARE);
  });

  it("AGT-01 a person's hook in forge's own group stays", () => {
    const mixed = hookGroup('claude', 'Stop');
    mixed.hooks.push({ type: 'command', command: 'mine', timeout: 1 });
    const text = JSON.stringify({ hooks: { Stop: [mixed] } }, null, 2);
    const after = read(uninstall(text, PARTS).text as string);
    expect(after).toEqual({ hooks: { Stop: [{ matcher: '*', hooks: [mixed.hooks[1]] }] } });
    expect(read(install(text, PARTS.slice(1, 2)).text as string)).toEqual({
      hooks: { Stop: [{ matcher: '*', hooks: [mixed.hooks[1]] }, hookGroup('claude', 'Stop')] },
    });
  });

  it('AGT-01 a file that forge began is gone when nothing else is in it, and stays when something is', () => {
    const parts = [{ ...item('cursor', 'stop'), beginning: '{"version": 1}' }];
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

  it('AGT-01 two agents in one file: taking one out leaves what the other would have alone', () => {
    const [one, two] = [[item('claude', 'Stop')], [item('codex', 'Stop')]];
    const first = install('{}\n', one);
    const both = planFile({
      text: first.text,
      record: first.record,
      wanted: [...one, ...two],
      put: two,
      drop: [],
      folders: [],
    });
    const left = planFile({
      text: both.text,
      record: both.record,
      wanted: two,
      put: [],
      drop: one,
      folders: [],
    });
    expect(left.text).toBe(install('{}\n', two).text);
    expect(uninstall(left.text, two, left.record).text).toBe('{}\n');
  });
});

const refusal = (text: string, parts: readonly Part[] = PARTS): [string, number | null] => {
  try {
    install(text, parts);
  } catch (error) {
    const { message, offset, name } = error as Error & { offset: number | null };
    expect(name).toBe('Error');
    return [message, offset === null ? null : text.slice(0, offset).split('\n').length];
  }
  throw new Error(`It was to be refused: ${text}`);
};

describe('what forge does not edit', () => {
  it.each<[string, string, [string, number]]>([
    ['no JSON', '{\n  "a": ,\n}', ['it is no JSON (value expected)', 2]],
    ['JSON that breaks off', '{\n  "a": {', ['it is no JSON (close brace expected)', 2]],
    ['a list', '\n[]', ['it holds no JSON object', 2]],
    ['hooks that are a text', '{\n"hooks": "x"}', ['"hooks" is no object, but string', 2]],
    ['hooks that are a list', '{\n"hooks": []}', ['"hooks" is no object, but array', 2]],
    ['an event that is an object', '{"hooks": {\n"Stop": {}}}', ['"hooks.Stop" is no list, but object', 2]],
    ['keys that stand twice', '{\n"hooks": {},\n"hooks": {}}', ['"hooks" stands twice', 3]],
    ['events that stand twice', '{"hooks": {"Stop": [],\n"Stop": []}}', ['"hooks.Stop" stands twice', 2]],
    [
      "another's server",
      '{"mcpServers": {\n"forge": {"command": "x"}}}',
      ['"mcpServers.forge" is there already and is not forge\'s', 2],
    ],
  ])('AGT-01 %s', (_, text, expected) => {
    expect(refusal(text)).toEqual(expected);
  });

  it('AGT-01 deep nesting, without running out of stack', () => {
    expect(refusal(`{"a":\n${'['.repeat(100_000)}`)).toEqual(['it is nested deeper than 100', 2]);
    const deep = `{"a": ${'['.repeat(90)}${']'.repeat(90)}}`;
    expect(uninstall(install(deep, PARTS).text, PARTS).text).toBe(deep);
  });

  it('AGT-01 keys that stand twice elsewhere are no concern', () => {
    const text = '{"a": 1, "a": 2}';
    expect(install(text, PARTS).text).toContain('"a": 1, "a": 2');
  });
});

const TOML = [table('codex')];

describe('forge in a TOML file', () => {
  it.each([
    null,
    '',
    '# mine\n',
    'a = 1',
    'a = 1\r\n[mcp_servers.other]\r\ncommand = "x"\r\n',
    '\ufeffa = 1\n\n',
  ])('AGT-01 a table at the end of %j, and out again to the very bytes', (text) => {
    const wired = install(text, TOML);
    const value = parseToml((wired.text as string).replace(/^\ufeff/, ''));
    expect(value).toMatchObject({ mcp_servers: { forge: { command: 'forge', args: ['mcp'] } } });
    expect(install(wired.text, TOML, wired.record)).toEqual(wired);
    expect(uninstall(wired.text, TOML, wired.record)).toEqual({ text, record: null });
  });

  it('AGT-01 an older table is replaced in place, and taken out with its sub-tables, without notes', () => {
    const text =
      'a = 1\n\n[mcp_servers.forge]\ncommand = "npx"\nargs = ["forge", "mcp"]\n[mcp_servers.forge.env]\nX = "1"\n\n# next\n[z]\nb = 2\n';
    const after = install(text, TOML);
    expect(after.text).toBe(
      'a = 1\n\n[mcp_servers.forge]\ncommand = "forge"\nargs = ["mcp"]\n\n# next\n[z]\nb = 2\n',
    );
    expect(after.record?.before).toBe('unknown');
    expect(uninstall(after.text, TOML).text).toBe('a = 1\n\n# next\n[z]\nb = 2\n');
    expect(uninstall(text, TOML).text).toBe('a = 1\n\n# next\n[z]\nb = 2\n');
  });

  it.each<[string, string, [string, number | null]]>([
    ['no TOML', 'a = 1\nb =\n', [expect.stringMatching(/^it is no TOML/) as never, 2]],
    [
      "another's table",
      '\n[mcp_servers.forge]\ncommand = "x"\n',
      ['"mcp_servers.forge" is there already and is not forge\'s', 2],
    ],
    [
      'dotted keys',
      'mcp_servers.forge.command = "npx"\nmcp_servers.forge.args = ["forge", "x", "mcp"]\n',
      ['"mcp_servers.forge" is not written as a table', 1],
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

const BLOCK = [block('claude')];

describe('forge in a Markdown file', () => {
  it.each([null, '', '# Mine\n', '# Mine', '# Mine\r\n\r\nText\r\n', '# Mine\n\n', '\ufeff# Mine\n'])(
    'AGT-01 a marked block at the end of %j, and out again to the very bytes',
    (text) => {
      const wired = install(text, BLOCK);
      expect(wired.text).toMatch(/<!-- forge:begin -->\r?\nUse forge\.\r?\n<!-- forge:end -->/);
      expect(uninstall(wired.text, BLOCK, wired.record)).toEqual({ text, record: null });
    },
  );

  it('AGT-01 is replaced where it is, and taken out of a text that was edited around it', () => {
    const wired = install('# Mine\n', [block('claude', 'Old.')]).text as string;
    const edited = `${wired}\nMore.\n`;
    expect(install(edited, BLOCK).text).toBe(edited.replace('Old.', 'Use forge.'));
    expect(uninstall(edited, BLOCK).text).toBe('# Mine\n\nMore.\n');
  });

  it.each<[string, string, [string, number]]>([
    ['a beginning alone', 'a\n<!-- forge:begin -->\n', ['<!-- forge:begin --> stands alone', 2]],
    ['an end alone', '<!-- forge:end -->', ['<!-- forge:end --> stands alone', 1]],
    [
      'two blocks',
      '<!-- forge:begin -->\n<!-- forge:end -->\n<!-- forge:begin -->\n<!-- forge:end -->\n',
      ['<!-- forge:begin --> stands twice', 3],
    ],
    [
      'an end before its beginning',
      '<!-- forge:end -->\n<!-- forge:begin -->\n',
      ['<!-- forge:end --> stands before its beginning', 1],
    ],
  ])('AGT-01 refuses %s', (_, text, expected) => {
    expect(refusal(text, BLOCK)).toEqual(expected);
  });
});

describe("a whole file of forge's", () => {
  const parts = [file('opencode')];

  it("AGT-01 is written, replaced and removed; another's is refused and stays", () => {
    const wired = install(null, parts);
    expect(uninstall(wired.text, parts, wired.record).text).toBeNull();
    const newer = [file('opencode', '// forge agent install\nnewer();\n')];
    expect(install(wired.text, newer, wired.record).text).toBe('// forge agent install\nnewer();\n');
    expect(install(`${wired.text}mine();\n`, newer).text).toBe('// forge agent install\nnewer();\n');
    expect(uninstall(`${wired.text}mine();\n`, parts).text).toBeNull();
    expect(refusal('mine();\n', parts)).toEqual(["it is there already and is not forge's", null]);
    expect(uninstall('mine();\n', parts)).toEqual({ text: 'mine();\n', record: null });
  });
});

describe('a draft', () => {
  it('AGT-01 knows what was put in, however the edits follow each other', () => {
    const edits = fc.array(fc.tuple(fc.nat(), fc.string({ minLength: 1, maxLength: 4 })), { maxLength: 8 });
    fc.assert(
      fc.property(fc.string(), edits, (text, steps) => {
        const draft = new Draft(text);
        for (const [at, inserted] of steps)
          draft.apply([{ offset: at % (draft.text.length + 1), removed: 0, inserted }]);
        const runs = draft.insertions ?? [];
        let rest = draft.text;
        for (const { offset, length } of runs.toReversed())
          rest = rest.slice(0, offset) + rest.slice(offset + length);
        expect(rest).toBe(text);
      }),
    );
  });
});
