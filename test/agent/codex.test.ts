import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { AGENTS, isHookOf } from '../../src/agent/agents.js';
import { type Answer, replyTo } from '../../src/agent/event.js';
import { hooksFor, partsFor, readPayload, replyAt } from '../support/wirings.js';

const { codex } = AGENTS;

const folder = new URL('../fixtures/agents/codex/', import.meta.url);
const fixture = (name: string) => JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8'));
const names = readdirSync(folder).flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -5)] : []));
const wordOf = (name: string): string =>
  Object.keys(codex.events).find((word) => name === word || name.startsWith(`${word}-`)) ?? '';

/**
 * The keys that the output schema of each event has; all of them, and hookSpecificOutput as well, refuse any other
 * (test/fixtures/agents/codex/README.md). A session's end and whatever is not listed take nothing.
 */
const ALWAYS = ['continue', 'stopReason', 'suppressOutput', 'systemMessage'];
const OUTPUTS: Record<string, { keys: string[]; specific?: string[] }> = {
  SessionStart: { keys: [...ALWAYS, 'hookSpecificOutput'], specific: [] },
  UserPromptSubmit: { keys: [...ALWAYS, 'decision', 'reason', 'hookSpecificOutput'], specific: [] },
  PreToolUse: {
    keys: [...ALWAYS, 'decision', 'reason', 'hookSpecificOutput'],
    specific: ['permissionDecision', 'permissionDecisionReason', 'updatedInput'],
  },
  PostToolUse: {
    keys: [...ALWAYS, 'decision', 'reason', 'hookSpecificOutput'],
    specific: ['updatedMCPToolOutput'],
  },
  PreCompact: { keys: ALWAYS },
  Stop: { keys: [...ALWAYS, 'decision', 'reason'] },
};

/** What Codex would say against a reply; null when it takes it. */
function refusal(event: string, reply: string): string | null {
  if (reply === '') return null;
  const output = JSON.parse(reply);
  const { keys = [], specific } = OUTPUTS[event] ?? {};
  const odd = Object.keys(output).filter((key) => !keys.includes(key));
  if (output.hookSpecificOutput) {
    const known = ['hookEventName', 'additionalContext', ...(specific ?? [])];
    odd.push(...Object.keys(output.hookSpecificOutput).filter((key) => !known.includes(key)));
    if (output.hookSpecificOutput.hookEventName !== event) odd.push('hookEventName');
  }
  if (output.decision === 'block' && !/\S/.test(output.reason ?? '')) odd.push('a blank reason');
  return odd.length === 0 ? null : odd.join(', ');
}

const ANSWERS: Answer[] = ['the KFR', '', null].flatMap((context) =>
  ['settle kfr-1', ' \n', '', null].map((block) => ({ context, block })),
);

describe('the adapter of Codex CLI', () => {
  it.each(Object.entries(codex.events))(
    'AGT-01 replies to %s with what its schema allows and no more',
    (word, { moment, name }) => {
      const replies = ANSWERS.map((answer) => replyTo(codex, { moment, name }, answer));
      expect(replies.map((reply) => refusal(name, reply)).filter(Boolean)).toEqual([]);
      const context = replyAt('codex', word, 'the KFR');
      if (!codex.takes.includes(moment)) expect(context).toBe('');
      else
        expect(JSON.parse(context)).toEqual({
          hookSpecificOutput: { hookEventName: name, additionalContext: 'the KFR' },
        });
    },
  );

  it('AGT-01 KFR-09 holds back a stop by a reason, and a compaction by nothing at all', () => {
    expect(JSON.parse(replyAt('codex', 'stop', null, 'settle kfr-1'))).toEqual({
      decision: 'block',
      reason: 'settle kfr-1',
      systemMessage: 'settle kfr-1',
    });
    expect(replyAt('codex', 'pre-compact', null, 'settle kfr-1')).toBe('');
    expect(codex.blocksCompaction).toBe(false);
  });

  it('AGT-01 reads its documented payloads, and nothing of what it does not know', () => {
    const read = Object.fromEntries(
      names.filter(wordOf).map((name) => {
        const { moment } = codex.events[wordOf(name)] ?? { moment: 'end' };
        const event = readPayload('codex', name, { of_tomorrow: { a: 1 } });
        expect(event).toMatchObject({
          moment,
          conversation: fixture(name).session_id,
          cwd: '/home/ada/shop',
        });
        return [name, event];
      }),
    );
    expect(Object.keys(read).length).toBe(names.length - 1);
    expect(read['session-start']).toMatchObject({ isSubagent: false });
    expect(read['post-tool-use-subagent']).toMatchObject({ isSubagent: true });
    expect(read['pre-compact']).toMatchObject({ isAsked: true });
    expect(read['pre-compact-auto']).toMatchObject({ isAsked: false });
    expect(read['stop']).toMatchObject({ isContinuing: false });
    expect(read['stop-active']).toMatchObject({ isContinuing: true });
    expect(read['session-end']).toMatchObject({ isCleared: false });
  });
});

describe('the wiring of Codex CLI', () => {
  const command = 'node /opt/forge.js';

  it('AGT-01 adds a hook in seconds for each event that every version knows', () => {
    expect(partsFor('codex').map(({ file }) => file)).toEqual(['.codex/hooks.json', '.codex/config.toml']);
    const hooks = hooksFor('codex', false, command);
    expect(Object.keys(hooks)).toEqual([
      'SessionStart',
      'UserPromptSubmit',
      'PreToolUse',
      'PreCompact',
      'Stop',
    ]);
    for (const value of Object.values(hooks)) {
      const { hooks: handlers } = value as { hooks: { type: string; command: string; timeout: number }[] };
      expect(handlers).toHaveLength(1);
      const [{ type, command: line, timeout } = { type: '', command: '', timeout: 0 }] = handlers;
      expect(type).toBe('command');
      expect(isHookOf('codex', line)).toBe(true);
      expect(codex.events).toHaveProperty([/hook codex (\S+)/.exec(line)?.[1] ?? '']);
      expect(timeout).toBeLessThan(60);
    }
  });

  it('AGT-01 adds the MCP server as a table, whatever starts forge', () => {
    const table = partsFor('codex', false, command)[1];
    expect(table).toMatchObject({ kind: 'toml', table: 'mcp_servers.forge' });
    const lines = table?.kind === 'toml' ? table.lines : [];
    expect(parse(`[mcp_servers.forge]\n${lines.join('\n')}`)).toEqual({
      mcp_servers: { forge: { command: 'node', args: ['/opt/forge.js', 'mcp'] } },
    });
  });

  it('AGT-01 is the same below home, and says what a person has to do', () => {
    expect(partsFor('codex', true)).toEqual(partsFor('codex'));
    expect(codex.wants('forge', true, false).join('\n')).toMatch(/\/hooks/);
    expect(codex.wants('forge', false, false).join('\n')).toMatch(/\/hooks.*project that it trusts/s);
  });
});
