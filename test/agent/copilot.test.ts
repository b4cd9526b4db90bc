import { describe, expect, it } from 'vitest';
import { copilot } from '../../src/agent/copilot.js';
import type { Moment } from '../../src/agent/event.js';
import { stopReason } from '../../src/kfr/rules.js';
import { payload } from '../support/agent-hooks.js';

const read = (name: string, moment: Moment, change: object = {}) =>
  copilot.read(payload('copilot', name, change), moment);
const KNOWN = { conversation: '3c1d4add-9113-4ac4-9937-681cde658835', cwd: '/home/ada/shop' };

describe("Copilot's payloads", () => {
  it('AGT-01 tell the conversation and its folder, and at which event what else', () => {
    for (const [word, { moment }] of Object.entries(copilot.events))
      expect(read(word, moment)).toMatchObject({ moment, ...KNOWN, isSubagent: false, isCleared: false });
    const sources = ['new', 'startup', 'resume'].map(
      (source) => read('session-start', 'start', { source }).source,
    );
    expect(sources).toEqual(['new', 'new', 'resume']);
    expect(read('pre-compact', 'compaction').isAsked).toBe(true);
    expect(read('pre-compact', 'compaction', { trigger: 'auto' }).isAsked).toBe(false);
    const call = { name: 'bash', input: { command: 'npm test', description: 'Run the tests' } };
    expect(read('pre-tool-use', 'before-tool').tool).toEqual(call);
    expect(read('post-tool-use', 'after-tool').tool).toMatchObject({
      ...call,
      response: { resultType: 'success' },
    });
  });

  it('AGT-01 tell what a sub-agent does, whose stop is none of the conversation', () => {
    const ids = {
      sessionId: 'a7',
      agentId: 'a7',
      agentType: 'general-purpose',
      parentAgentId: KNOWN.conversation,
    };
    expect(read('agent-stop', 'stop', ids).isSubagent).toBe(true);
    expect(read('post-tool-use', 'after-tool', ids).isSubagent).toBe(true);
  });

  it('KFR-09 tell whether a stop follows a blocked one, and a prompt is forge’s own reason', () => {
    const stop = (change: object) => read('agent-stop', 'stop', change).isContinuing;
    expect([stop({}), stop({ stop_hook_active: true })]).toEqual([false, true]);
    expect(stop({ stop_hook_active: undefined, stopHookActive: true })).toBe(true);
    expect(stop({ stop_hook_active: undefined })).toBeNull();
    const prompt = (text: string) => read('user-prompt-submitted', 'prompt', { prompt: text }).isContinuing;
    expect([prompt('Make logout work'), prompt(stopReason([], 'stop'))]).toEqual([false, true]);
  });
});

describe('what Copilot is answered', () => {
  it('AGT-01 KFR-09 is in its own words', () => {
    const reply = (context: string | null, block: string | null) =>
      copilot.reply({ context, block }, 'start', 'sessionStart');
    expect(JSON.parse(reply('known', null))).toEqual({ additionalContext: 'known' });
    expect(JSON.parse(reply(null, 'not yet'))).toEqual({ decision: 'block', reason: 'not yet' });
    expect(reply(null, null)).toBe('');
  });
});
