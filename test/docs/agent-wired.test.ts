import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { planFile } from '../../src/agent/wiring-plan.js';
import type { AgentWiring, Fixture } from '../../src/agent/wiring-rules.js';
import { copilotWiring } from '../../src/agent/wirings/copilot.js';
import { opencodeWiring } from '../../src/agent/wirings/opencode.js';

const HERE = { command: 'forge', isUser: false };

/** As forge agent install writes a file that is not there yet. */
function installed({ name, fixtures, beginnings }: AgentWiring, file: string): string | null {
  const parts = fixtures(HERE)
    .filter((fixture) => fixture.file === file)
    .map((fixture) => ({ agent: name, fixture, beginning: beginnings?.[file] }));
  return planFile({ text: null, record: null, wanted: parts, put: parts, drop: [], folders: [] }).text;
}
const textOf = (fixtures: Fixture[]) =>
  fixtures.flatMap((part) => (part.kind === 'file' ? [part.text] : []))[0];
const memberOf = (fixtures: Fixture[]) =>
  fixtures.flatMap((part) => (part.kind === 'member' ? [part.value] : []))[0];

describe('the folders of Copilot and opencode in agents/', () => {
  const root = fileURLToPath(new URL('../../agents', import.meta.url));
  const filesIn = (folder: string) =>
    readdirSync(`${root}/${folder}`, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'README.md')
      .map((entry) => `${entry.parentPath.slice(root.length + 1)}/${entry.name}`)
      .sort();

  it('AGT-01 hold what would be installed', () => {
    const copilot = copilotWiring.fixtures(HERE);
    const read = (path: string) => readFileSync(`${root}/${path}`, 'utf8');
    expect(filesIn('copilot')).toEqual(['copilot/hooks/forge.json', 'copilot/mcp.json']);
    expect(read('copilot/hooks/forge.json')).toBe(installed(copilotWiring, '.github/hooks/forge.json'));
    expect(JSON.parse(read('copilot/mcp.json'))).toEqual({ mcpServers: { forge: memberOf(copilot) } });
    expect(filesIn('opencode')).toEqual(['opencode/plugins/forge.js']);
    expect(read('opencode/plugins/forge.js')).toBe(textOf(opencodeWiring.fixtures(HERE)));
  });
});
