import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { install } from '../support/plans.js';
import { partsFor, pluginFor, serverFor } from '../support/wirings.js';

describe('the folders of Copilot and opencode in agents/', () => {
  const root = fileURLToPath(new URL('../../agents', import.meta.url));
  const filesIn = (folder: string) =>
    readdirSync(`${root}/${folder}`, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'README.md')
      .map((entry) => `${entry.parentPath.slice(root.length + 1)}/${entry.name}`)
      .sort();

  it('AGT-01 hold what would be installed', () => {
    const read = (path: string) => readFileSync(`${root}/${path}`, 'utf8');
    const hooks = partsFor('copilot').filter(({ file }) => file === '.github/hooks/forge.json');
    expect(filesIn('copilot')).toEqual(['copilot/hooks/forge.json', 'copilot/mcp.json']);
    expect(read('copilot/hooks/forge.json')).toBe(install(null, hooks));
    expect(JSON.parse(read('copilot/mcp.json'))).toEqual({
      mcpServers: { forge: serverFor('copilot')?.value },
    });
    expect(filesIn('opencode')).toEqual(['opencode/plugins/forge.js']);
    expect(read('opencode/plugins/forge.js')).toBe(pluginFor('forge'));
  });
});
