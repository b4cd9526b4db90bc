import { describe, expect, it } from 'vitest';
import { AGENTS } from '../../src/agent/agents.js';
import { stopReason } from '../../src/kfr/rules.js';
import { readPayload, replyAt } from '../support/wirings.js';

const read = (name: string, change: object = {}) => readPayload('copilot', name, change);
const KNOWN = { conversation: '3c1d4add-9113-4ac4-9937-681cde658835', cwd: '/home/ada/shop' };

describe("Copilot's payloads", () => {
  it('AGT-01 tell the conversation and its folder, and at which event what else', () => {
    for (const [word, { moment }] of Object.entries(AGENTS.copilot.events))
      expect(read(word)).toMatchObject({ moment, ...KNOWN, isSubagent: false, isCleared: false });
    expect(read('pre-compact').isAsked).toBe(true);
    expect(read('pre-compact', { trigger: 'auto' }).isAsked).toBe(false);
  });

  it('AGT-01 tell what a sub-agent does, whose stop is none of the conversation', () => {
    const ids = {
      sessionId: 'a7',
      agentId: 'a7',
      agentType: 'general-purpose',
      parentAgentId: KNOWN.conversation,
    };
    expect(read('agent-stop', ids).isSubagent).toBe(true);
    expect(read('post-tool-use', ids).isSubagent).toBe(true);
  });

  it('KFR-09 tell whether a stop follows a blocked one, and a prompt is forge’s own reason', () => {
    const stop = (change: object) => read('agent-stop', change).isContinuing;
    expect([stop({}), stop({ stop_hook_active: true })]).toEqual([false, true]);
    expect(stop({ stop_hook_active: undefined, stopHookActive: true })).toBe(true);
    expect(stop({ stop_hook_active: undefined })).toBeNull();
    const prompt = (text: string) => read('user-prompt-submitted', { prompt: text }).isContinuing;
    expect([prompt('Make logout work'), prompt(stopReason([], 'stop'))]).toEqual([false, true]);
  });
});

describe('what Copilot is answered', () => {
  it('AGT-01 KFR-09 is in its own words', () => {
    expect(JSON.parse(replyAt('copilot', 'session-start', 'known'))).toEqual({ additionalContext: 'known' });
    expect(JSON.parse(replyAt('copilot', 'agent-stop', null, 'not yet'))).toEqual({
      decision: 'block',
      reason: 'not yet',
    });
    expect(replyAt('copilot', 'session-start', null)).toBe('');
  });
});
