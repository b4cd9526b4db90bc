import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AGENTS, isHookOf } from '../../src/agent/agents.js';
import { stopReason } from '../../src/kfr/rules.js';
import { hooksFor, partsFor, readPayload, replyAt, serverFor } from '../support/wirings.js';

const { gemini } = AGENTS;
const root = new URL('../../', import.meta.url);
const folder = 'test/fixtures/agents/gemini/';
const names = readdirSync(new URL(folder, root)).flatMap((name) =>
  name.endsWith('.json') ? [name.slice(0, -5)] : [],
);

const read = (name: string, change: object = {}) => readPayload('gemini', name, change);

describe('the adapter of Gemini CLI', () => {
  it.each(Object.entries(gemini.events))(
    'AGT-01 replies to %s by JSON or not at all',
    (word, { moment, name }) => {
      const context = replyAt('gemini', word, 'the KFR');
      if (!gemini.takes.includes(moment)) expect(context).toBe('');
      else
        expect(JSON.parse(context)).toEqual({
          hookSpecificOutput: { hookEventName: name, additionalContext: 'the KFR' },
        });
      const denial = replyAt('gemini', word, null, 'settle kfr-1');
      if (name === 'AfterAgent')
        expect(JSON.parse(denial)).toEqual({
          decision: 'deny',
          reason: 'settle kfr-1',
          systemMessage: 'settle kfr-1',
        });
      else if (name === 'BeforeTool')
        expect(JSON.parse(denial)).toEqual({ decision: 'deny', reason: 'settle kfr-1' });
      else expect(denial).toBe('');
      expect(replyAt('gemini', word, null)).toBe('');
      expect(replyAt('gemini', word, null, ' ')).toBe('');
    },
  );

  it('AGT-01 reads its documented payloads, and nothing of what it does not know', () => {
    for (const name of names)
      expect(read(name, { of_tomorrow: [1] })).toMatchObject({
        conversation: '39846134-8f3c-41d0-a32a-2fb741002035',
        cwd: '/home/ada/shop',
        isSubagent: false,
      });
    expect(read('session-start')).toMatchObject({ moment: 'start' });
    expect(read('pre-compress')).toMatchObject({ moment: 'compaction', isAsked: true });
    expect(read('session-end')).toMatchObject({ isCleared: false });
    expect(read('session-end-clear')).toMatchObject({ isCleared: true });
  });

  it('AGT-01 KFR-09 tells a prompt of a person from the reason of a stop that it denied', () => {
    const reason = stopReason([{ id: 'kfr-1', kind: 'OpenQuestion', text: 'which?' } as never], 'stop');
    expect(read('before-agent')).toMatchObject({ moment: 'prompt', isContinuing: false });
    expect(read('before-agent', { prompt: reason })).toMatchObject({ isContinuing: true });
    expect(read('before-agent', { prompt: `another hook\n${reason}` })).toMatchObject({ isContinuing: true });
  });

  it('AGT-01 KFR-09 believes stop_hook_active only where it is true: it is not, after a tool', () => {
    expect(read('after-agent-active')).toMatchObject({ moment: 'stop', isContinuing: true });
    expect(read('after-agent')).toMatchObject({ moment: 'stop', isContinuing: null });
  });
});

describe('the wiring of Gemini CLI', () => {
  it('AGT-01 adds named hooks in milliseconds, and the MCP server, to one file', () => {
    expect(partsFor('gemini').map(({ file }) => file)).toEqual(['.gemini/settings.json', '.geminiignore']);
    const hooks = hooksFor('gemini');
    expect(Object.keys(hooks)).toEqual([
      'SessionStart',
      'BeforeAgent',
      'BeforeTool',
      'PreCompress',
      'AfterAgent',
      'SessionEnd',
    ]);
    for (const value of Object.values(hooks)) {
      const [handler] = (value as { hooks: { name: string; command: string; timeout: number }[] }).hooks;
      expect(isHookOf('gemini', handler?.command)).toBe(true);
      expect(handler?.name).toBe(`forge-${/hook gemini (\S+)/.exec(handler?.command ?? '')?.[1]}`);
      expect(handler?.timeout).toBeGreaterThanOrEqual(5000);
    }
    expect(serverFor('gemini', false, 'node /opt/forge.js')).toEqual({
      path: ['mcpServers', 'forge'],
      value: { command: 'node', args: ['/opt/forge.js', 'mcp'] },
    });
  });

  it('AGT-01 is the same below home, and says what a person has to do', () => {
    expect(partsFor('gemini', true)).toEqual(partsFor('gemini').slice(0, 1));
    expect(gemini.wants('forge', false, false).join('\n')).toMatch(/warns.*\/permissions/s);
  });
});
