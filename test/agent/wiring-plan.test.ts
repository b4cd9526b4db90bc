import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { type ParseError, parse } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { digestText, insertionsIn, planFile } from '../../src/agent/plan.js';
import { settings } from '../support/agent-settings.js';
import { install, PARTS, refusal, uninstall } from '../support/plans.js';
import { hookGroup, json } from '../support/wirings.js';

const read = (text: string): unknown => {
  const errors: ParseError[] = [];
  const value: unknown = parse(text.replace(/^\ufeff/, ''), errors, { allowTrailingComma: true });
  expect(errors).toEqual([]);
  return value;
};
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

const BARE = '{\n  "hooks": {\n    "Stop": []\n  }\n}\n';

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
    const parts = [json('claude', [], { server: true })];
    const wired = install(before, parts);
    expect(wired.text).toBe(after);
    expect(uninstall(after, parts, wired.record).text).toBe(before);
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
    expect(read(install(text, [json('claude', ['Stop'])]).text as string)).toEqual({
      hooks: { Stop: [{ matcher: '*', hooks: [mixed.hooks[1]] }, hookGroup('claude', 'Stop')] },
    });
  });

  it('AGT-01 a file that forge began is gone when nothing else is in it, and stays when something is', () => {
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

  it('AGT-01 two agents in one file: taking one out leaves what the other would have alone', () => {
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

describe('what forge does not edit', () => {
  it.each<[string, string, [string, number]]>([
    ['no JSON', '{\n  "a": ,\n}', ['it is not JSON (value expected)', 2]],
    ['JSON that breaks off', '{\n  "a": {', ['it is not JSON (close brace expected)', 2]],
    ['a list', '\n[]', ['it holds no JSON object', 2]],
    ['hooks that are a text', '{\n"hooks": "x"}', ['"hooks" is not an object, but string', 2]],
    ['hooks that are a list', '{\n"hooks": []}', ['"hooks" is not an object, but array', 2]],
    [
      'an event that is an object',
      '{"hooks": {\n"Stop": {}}}',
      ['"hooks.Stop" is not a list, but object', 2],
    ],
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
    expect(refusal(`{"a":\n${'['.repeat(100_000)}`)).toEqual(['it is nested too deeply', 1]);
    const deep = `{"a": ${'['.repeat(90)}${']'.repeat(90)}}`;
    expect(uninstall(install(deep, PARTS).text, PARTS).text).toBe(deep);
  });

  it('AGT-01 keys that stand twice elsewhere are no concern', () => {
    const text = '{"a": 1, "a": 2}';
    expect(install(text, PARTS).text).toContain('"a": 1, "a": 2');
  });
});

describe('insertions', () => {
  it('AGT-01 give the text from before, and are null where something was replaced', () => {
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
