import { describe, expect, it } from 'vitest';
import type { Moment } from '../../src/agent/event.js';
import { opencode } from '../../src/agent/opencode.js';
import { stopReason } from '../../src/kfr/rules.js';
import { payload } from '../support/agent-hooks.js';

const read = (name: string, moment: Moment, change: object = {}) =>
  opencode.read(payload('opencode', name, change), moment);
const KNOWN = { conversation: 'ses_e0137474effetiNN4YUkLXLyvt', cwd: '/home/ada/shop' };

describe("the payloads of forge's plugin for opencode", () => {
  it('AGT-01 tell the session and its folder, and what else', () => {
    for (const [word, { moment }] of Object.entries(opencode.events))
      if (word !== 'before-tool')
        expect(read(word, moment)).toMatchObject({ moment, ...KNOWN, isSubagent: false, isAsked: false });
    expect(read('session-start', 'start', { source: 'compact' }).source).toBe('compact');
    expect(read('after-tool', 'after-tool').tool).toMatchObject({ name: 'bash' });
  });

  it('AGT-01 mark a session that another one started as a part of it', () => {
    expect(read('stop', 'stop', { parent_id: 'ses_1' }).isSubagent).toBe(true);
  });

  it('KFR-09 tell a prompt that is forge’s own reason from that of a person', () => {
    const prompt = (text: string) => read('prompt', 'prompt', { prompt: text }).isContinuing;
    expect([prompt('Make logout work'), prompt(stopReason([], 'stop'))]).toEqual([false, true]);
    expect(read('stop', 'stop').isContinuing).toBeNull();
  });

  it('AGT-01 KFR-09 are answered with context or block', () => {
    const reply = (context: string | null, block: string | null) =>
      opencode.reply({ context, block }, 'start', 'session-start');
    expect(JSON.parse(reply('known', null))).toEqual({ context: 'known' });
    expect(JSON.parse(reply(null, 'not yet'))).toEqual({ block: 'not yet' });
    expect(reply(null, null)).toBe('');
  });
});
