import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hookLists, serverFor } from '../support/wirings.js';

const root = new URL('../../', import.meta.url);
const json = (path: string) => JSON.parse(readFileSync(new URL(path, root), 'utf8'));

describe('the extension for Gemini CLI', () => {
  it('AGT-01 has the hooks and the server of the wiring, so that both together run once', () => {
    const { hooks } = json('agents/gemini/hooks/hooks.json');
    expect(hooks).toEqual(hookLists('gemini'));
    const { version } = json('package.json');
    const manifest = json('agents/gemini/gemini-extension.json');
    expect(manifest).toMatchObject({
      name: 'forge',
      version,
      mcpServers: { forge: serverFor('gemini')?.value },
    });
    expect(readFileSync(new URL(`agents/gemini/${manifest.contextFileName}`, root), 'utf8')).toMatch(
      /forge kfr patch/,
    );
  });
});
