import * as fc from 'fast-check';
import { type ParseError, parse } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { putParts as install, dropParts as uninstall } from '../../src/agent/edit-text.js';
import { PARTS, refusal } from '../support/plans.js';
import { type Random, seeded } from '../support/secrets.js';
import { file, hookGroup, json, table } from '../support/wirings.js';

/** Files of settings as people write them: indented or not, with comments, trailing commas, CRLF, a BOM. */
interface Look {
  unit: string;
  end: string;
  bom: boolean;
  final: boolean;
  comments: boolean;
  trailing: boolean;
  seed: number;
}

const looks: fc.Arbitrary<Look> = fc.record({
  unit: fc.constantFrom('', '  ', '    ', '\t'),
  end: fc.constantFrom('\n', '\r\n'),
  bom: fc.boolean(),
  final: fc.boolean(),
  comments: fc.boolean(),
  trailing: fc.boolean(),
  seed: fc.integer(),
});

const leaf = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const group = fc.record({
  matcher: fc.string({ maxLength: 4 }),
  hooks: fc.array(fc.record({ command: fc.string() })),
});
const hooks = fc.dictionary(fc.constantFrom('Start', 'Stop', 'Other'), fc.array(group, { maxLength: 2 }));
const { tree } = fc.letrec((tie) => ({
  tree: fc.dictionary(fc.constantFrom('a', 'b', 'c"', 'permissions', 'é'), tie('value'), { maxKeys: 4 }),
  value: fc.oneof({ maxDepth: 3 }, leaf, fc.array(tie('value'), { maxLength: 3 }), tie('tree')),
}));
const servers = fc.dictionary(fc.constantFrom('one', 'two'), fc.record({ command: fc.string() }), {
  maxKeys: 2,
});

/** Some have hooks and servers of their own. */
const values = fc
  .tuple(tree as fc.Arbitrary<object>, fc.option(hooks), fc.option(servers))
  .map(([rest, own, mcpServers]) => ({
    ...rest,
    ...(own && { hooks: own }),
    ...(mcpServers && { mcpServers }),
  }));

const settings = fc.tuple(values, looks).map(([value, look]) => ({ value, text: write(value, look) }));

function write(value: object, look: Look): string {
  const body = print(value, look, look.unit === '' ? null : '', seeded(look.seed));
  return `${look.bom ? '\ufeff' : ''}${body}${look.final ? look.end : ''}`;
}

function print(value: unknown, look: Look, indent: string | null, random: Random): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  const inner = indent === null ? null : indent + look.unit;
  const entries = Object.entries(value).map(
    ([key, part]) => `${isList ? '' : `${JSON.stringify(key)}: `}${print(part, look, inner, random)}`,
  );
  const last = look.trailing && entries.length > 0 && random() < 0.7 ? ',' : '';
  if (inner === null) return open + noted(entries, ' ', look, random) + last + close;
  if (entries.length === 0 && random() < 0.5) return open + close;
  const lines = entries.map((entry, at) => {
    const comma = at < entries.length - 1 ? ',' : last;
    return inner + entry + comma + (look.comments && random() < 0.3 ? ` // ${at} "x": {` : '');
  });
  if (look.comments && random() < 0.3) lines.push(`${inner}/* "y": 1, */`);
  return [open, ...lines, indent + close].join(look.end);
}

const noted = (entries: string[], space: string, look: Look, random: Random): string =>
  entries
    .map((entry) => (look.comments && random() < 0.2 ? `/*,*/${space}${entry}` : entry))
    .join(`,${space}`);

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

describe('forge in a JSON settings file', () => {
  it('AGT-01 is added after existing content, and a second install changes nothing', () => {
    fc.assert(
      fc.property(settings, ({ text, value }) => {
        const wired = install(text, PARTS);
        expect(read(wired)).toEqual(withForge(value as Value));
        expect(install(wired, PARTS)).toBe(wired);
      }),
      { numRuns: 200 },
    );
  });

  it('AGT-01 of another command is removed byte for byte too', () => {
    fc.assert(
      fc.property(fc.option(settings), (found) => {
        const text = found?.text.trim() ? found.text : null;
        const old = [json('claude', ['Stop', 'Gone'], { command: 'npx --no-install forge', server: true })];
        expect(uninstall(install(install(text, old), PARTS), PARTS)).toBe(text);
      }),
      { numRuns: 200 },
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
    expect(install(before, parts)).toBe(after);
    expect(uninstall(after, parts)).toBe(before);
  });

  it("AGT-01 an edited file loses only forge's entries", () => {
    const wired = install('{\n  "a": 1\n}\n', PARTS);
    const edited = wired
      .replace('"a": 1', '"a": 2 /* mine */')
      .replace('"hooks": {', '"hooks": { // all of them');
    expect(uninstall(edited, PARTS)).toBe('{\n  "a": 2 /* mine */,\n  "hooks": { // all of them\n  }\n}\n');
  });

  it("AGT-01 a person's hook in forge's group stays", () => {
    const mixed = hookGroup('claude', 'Stop');
    mixed.hooks.push({ type: 'command', command: 'mine', timeout: 1 });
    const text = JSON.stringify({ hooks: { Stop: [mixed] } }, null, 2);
    const after = read(uninstall(text, PARTS) ?? '');
    expect(after).toEqual({ hooks: { Stop: [{ matcher: '*', hooks: [mixed.hooks[1]] }] } });
    expect(read(install(text, [json('claude', ['Stop'])]))).toEqual({
      hooks: { Stop: [{ matcher: '*', hooks: [mixed.hooks[1]] }, hookGroup('claude', 'Stop')] },
    });
  });

  it('AGT-01 a file that forge created is removed only if nothing else is in it', () => {
    const parts = [json('cursor', ['stop'], { beginning: { version: 1 } })];
    const wired = install(null, parts);
    expect(read(wired)).toEqual({
      version: 1,
      hooks: { stop: [hookGroup('cursor', 'stop')] },
    });
    expect(uninstall(wired, parts)).toBeNull();
    const touched = wired.replace('{\n', '{\n\n');
    expect(uninstall(touched, parts)).toBeNull();
    const edited = wired.replace('"version"', '"mine": true,\n  "version"');
    expect(uninstall(edited, parts)).toBe('{\n  "mine": true,\n  "version": 1\n}\n');
  });
});

const UNSAFE = 'it is laid out in a way that forge cannot edit safely';

describe('forge refuses to edit', () => {
  it.each<[string, string, [string, number | null]]>([
    ['invalid JSON', '{\n  "a": ,\n}', ['it is not JSON', 2]],
    ['truncated JSON', '{\n  "a": {', ['it is not JSON', 2]],
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
    '[mcp_servers]\n',
  ])('AGT-01 adds a table at the end of %j, and removes it byte for byte', (text) => {
    const wired = install(text, TOML);
    const value = parseToml(wired.replace(/^\ufeff/, ''));
    expect(value).toMatchObject({ mcp_servers: { forge: { command: 'forge', args: ['mcp'] } } });
    expect(install(wired, TOML)).toEqual(wired);
    expect(uninstall(wired, TOML)).toBe(text || null);
  });

  it('AGT-01 replaces an older table, and removes it with its sub-tables, without a record', () => {
    const text =
      'a = 1\n\n[mcp_servers.forge]\ncommand = "npx"\nargs = ["forge", "mcp"]\n[mcp_servers.forge.env]\nX = "1"\n\n# next\n[z]\nb = 2\n';
    const after = install(text, TOML);
    expect(after).toBe(
      'a = 1\n\n# next\n[z]\nb = 2\n\n[mcp_servers.forge]\ncommand = "forge"\nargs = ["mcp"]\n',
    );
    expect(uninstall(after, TOML)).toBe('a = 1\n\n# next\n[z]\nb = 2\n');
    expect(uninstall(text, TOML)).toBe('a = 1\n\n# next\n[z]\nb = 2\n');
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

describe("forge's own file", () => {
  const parts = [file()];

  it('AGT-01 is written, replaced and removed; a foreign file is refused', () => {
    const wired = install(null, parts);
    expect(uninstall(wired, parts)).toBeNull();
    const newer = [file('// forge agent install\nnewer();\n')];
    expect(install(wired, newer)).toBe('// forge agent install\nnewer();\n');
    expect(install(`${wired}mine();\n`, newer)).toBe('// forge agent install\nnewer();\n');
    expect(uninstall(`${wired}mine();\n`, parts)).toBeNull();
    expect(refusal('mine();\n', parts)).toEqual(["it is there already and is not forge's", null]);
    expect(uninstall('mine();\n', parts)).toBe('mine();\n');
  });
});
