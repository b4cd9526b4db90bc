import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  blockOf,
  claude,
  contextOf,
  hook,
  payload,
  QUESTION,
  SILENT,
  talking,
} from '../support/agent-hooks.js';
import { runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { patch } from '../support/kfrs.js';

describe('forge hook with invalid input', () => {
  const hostile: [string, string][] = [
    ['another encoding', '\u0000\ufffd{'],
    [
      'fields of the wrong kind',
      '{"session_id":7,"cwd":["/"],"source":{},"stop_hook_active":"yes","agent_id":0}',
    ],
  ];
  it.each(hostile)('AGT-01 %s: no output, no error, exit 0', async (_, input) => {
    const project = await talking();
    for (const event of ['user-prompt-submit', 'post-tool-use', 'pre-compact', 'stop'])
      expect(await hook(project, ['claude', event], input), event).toEqual(SILENT);
  });

  it('AGT-01 accepts unknown fields, extra words and another case, and ignores unknown events and agents', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    const stop = payload('claude', 'stop', { cwd: project.dir, a_new_field: { deep: [1] } });
    expect(blockOf(await hook(project, ['claude', 'stop'], stop))).not.toBeNull();
    await claude(project, 'user-prompt-submit');
    expect(blockOf(await hook(project, ['claude', 'Stop'], stop))).not.toBeNull();
    for (const words of [['claude', 'teleport'], ['nobody', 'stop'], ['claude'], []])
      expect(await runForge(project, ['hook', ...words], { stdin: JSON.stringify(stop) })).toEqual(SILENT);
    await claude(project, 'user-prompt-submit');
    const more = ['hook', 'claude', 'stop', '--json'];
    expect(blockOf(await runForge(project, more, { stdin: JSON.stringify(stop) }))).not.toBeNull();
  });

  it('AGT-01 reads a payload of 10 MB', async () => {
    const project = await talking();
    const big = { tool_response: { text: 'x'.repeat(10_000_000) } };
    expect(await claude(project, 'post-tool-use', big)).toEqual(SILENT);
    await patch(project, [QUESTION]);
    expect(blockOf(await claude(project, 'stop', big))).not.toBeNull();
  });

  it.each(['../../../../etc/passwd', `a/${'x'.repeat(10_000)}`, '\u001b[2J\n"}', '..', ''])(
    'AGT-01 turns the session id %j into a safe file name',
    async (session_id) => {
      const project = await makeForge();
      const text = contextOf(await claude(project, 'session-start', { session_id }));
      expect(text).toContain('FORGE briefing');
      const [file, ...others] = readdirSync(join(project.dir, '.git/forge/agents'));
      expect(others).toEqual([]);
      expect(file).toMatch(/^claude-([0-9a-f]{32}|unnamed)\.json$/);
    },
  );

  it('AGT-01 logs its own errors in one line without payload content, and lets the agent continue', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    writeFileSync(join(project.dir, '.forge/local/kfr.json'), '{"entries": 7');
    expect(await claude(project, 'stop')).toEqual(SILENT);
    expect(await claude(project, 'user-prompt-submit', { prompt: 'the secret plan' })).toEqual(SILENT);
    const log = readFileSync(join(project.dir, '.git/forge/hooks.log'), 'utf8');
    expect(log).toMatch(/^\S+ claude stop: \S+\n\S+ claude user-prompt-submit: \S+\n$/);
    expect(existsSync(join(project.dir, '.forge/local/hooks.log'))).toBe(false);
  });
});
