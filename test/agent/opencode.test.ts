import { describe, expect, it } from 'vitest';
import { AGENTS } from '../../src/agent/agents.js';
import { stopReason } from '../../src/kfr/rules.js';
import { readPayload, replyAt } from '../support/wirings.js';

const read = (name: string, change: object = {}) => readPayload('opencode', name, change);
const KNOWN = { conversation: 'ses_e0137474effetiNN4YUkLXLyvt', cwd: '/home/ada/shop' };

describe("the payloads of forge's plugin for opencode", () => {
  it('AGT-01 tell the session and its folder, and what else', () => {
    for (const [word, { moment }] of Object.entries(AGENTS.opencode.events))
      if (word !== 'before-tool')
        expect(read(word)).toMatchObject({ moment, ...KNOWN, isSubagent: false, isAsked: false });
  });

  it('AGT-01 mark a session that another one started as a part of it', () => {
    expect(read('stop', { parent_id: 'ses_1' }).isSubagent).toBe(true);
  });

  it('KFR-09 tell a prompt that is forge’s own reason from that of a person', () => {
    const prompt = (text: string) => read('prompt', { prompt: text }).isContinuing;
    expect([prompt('Make logout work'), prompt(stopReason([], 'stop'))]).toEqual([false, true]);
    expect(read('stop').isContinuing).toBeNull();
  });

  it('AGT-01 KFR-09 are answered with context or block', () => {
    expect(JSON.parse(replyAt('opencode', 'session-start', 'known'))).toEqual({ context: 'known' });
    expect(JSON.parse(replyAt('opencode', 'compacting', 'known'))).toEqual({ context: 'known' });
    expect(JSON.parse(replyAt('opencode', 'stop', null, 'not yet'))).toEqual({ block: 'not yet' });
    expect(replyAt('opencode', 'stop', null)).toBe('');
  });
});
