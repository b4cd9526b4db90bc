import { parse as parseToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { install, refusal, uninstall } from '../support/plans.js';
import { table } from '../support/wirings.js';

const TOML = [table()];

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
    ['no TOML', 'a = 1\nb =\n', [expect.stringMatching(/^it is not TOML/) as never, 2]],
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
