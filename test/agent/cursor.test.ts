import { describe, expect, it } from 'vitest';
import { AGENTS } from '../../src/agent/agents.js';
import { stopReason } from '../../src/kfr/rules.js';
import { readPayload, replyAt } from '../support/wirings.js';

const read = (name: string, change: object = {}) => readPayload('cursor', name, change);
const KNOWN = { conversation: '0d9f4a0e-5b0c-4f1f-9a0f-3c1f6a1d7b52', cwd: '/home/ada/shop' };

describe("Cursor's payloads", () => {
  it('AGT-01 tell the conversation and its folder, and at which event what else', () => {
    for (const [word, { moment }] of Object.entries(AGENTS.cursor.events))
      expect(read(word)).toMatchObject({ moment, ...KNOWN, isSubagent: false, isCleared: false });
    expect(read('pre-compact', { trigger: 'manual' }).isAsked).toBe(true);
  });

  it('KFR-09 tell whether a stop follows a follow-up, and whether somebody or an error stopped it', () => {
    const stop = (change: object) => read('stop', change);
    expect(stop({})).toMatchObject({ isContinuing: false, isInterrupted: false });
    expect(stop({ loop_count: 2 }).isContinuing).toBe(true);
    expect(stop({ loop_count: undefined }).isContinuing).toBeNull();
    expect(stop({ status: 'aborted' }).isInterrupted).toBe(true);
    expect(stop({ status: 'error' }).isInterrupted).toBe(true);
  });

  it("KFR-09 are no person's prompt when they carry forge's own reason", () => {
    const prompt = (text: string) => read('before-submit-prompt', { prompt: text }).isContinuing;
    expect(prompt('Make logout work')).toBe(false);
    expect(prompt(stopReason([], 'stop'))).toBe(true);
  });

  it('AGT-01 name folders as Windows has them, and may name none', () => {
    const cwd = (roots: unknown) => read('stop', { workspace_roots: roots }).cwd;
    expect(cwd(['/c:/Users/ada/shop', '/c:/other'])).toBe('c:/Users/ada/shop');
    expect([cwd([]), cwd(null), cwd('/x'), cwd([7])]).toEqual([null, null, null, null]);
    const nameless = { conversation_id: undefined, session_id: 's1' };
    expect(read('session-start', nameless).conversation).toBe('s1');
  });
});

describe('what Cursor is answered', () => {
  it('AGT-01 KFR-09 is in its own words', () => {
    expect(JSON.parse(replyAt('cursor', 'session-start', 'known'))).toEqual({ additional_context: 'known' });
    expect(JSON.parse(replyAt('cursor', 'stop', null, 'not yet'))).toEqual({ followup_message: 'not yet' });
    expect(replyAt('cursor', 'session-start', null)).toBe('');
  });

  it('AGT-01 has no context where Cursor takes none', () => {
    expect(AGENTS.cursor.takes).toEqual(['start', 'after-tool']);
  });
});
