import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { codex } from '../../src/agent/codex.js';
import type { Answer } from '../../src/agent/event.js';
import { isHookOf } from '../../src/agent/wiring-rules.js';
import { codexWiring } from '../../src/agent/wirings/codex.js';

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
    (_word, { moment, name }) => {
      const replies = ANSWERS.map((answer) => codex.reply(answer, moment, name));
      expect(replies.map((reply) => refusal(name, reply)).filter(Boolean)).toEqual([]);
      const context = codex.reply({ context: 'the KFR', block: null }, moment, name);
      if (!codex.takes.includes(moment)) expect(context).toBe('');
      else
        expect(JSON.parse(context)).toEqual({
          hookSpecificOutput: { hookEventName: name, additionalContext: 'the KFR' },
        });
    },
  );

  it('AGT-01 KFR-09 holds back a stop by a reason, and a compaction by nothing at all', () => {
    const answer = { context: null, block: 'settle kfr-1' };
    expect(JSON.parse(codex.reply(answer, 'stop', 'Stop'))).toEqual({
      decision: 'block',
      reason: 'settle kfr-1',
    });
    expect(codex.reply(answer, 'compaction', 'PreCompact')).toBe('');
    expect(codex.blocksCompaction).toBe(false);
  });

  it('AGT-01 reads its documented payloads, and nothing of what it does not know', () => {
    const read = Object.fromEntries(
      names.filter(wordOf).map((name) => {
        const { moment } = codex.events[wordOf(name)] ?? { moment: 'end' };
        const event = codex.read({ ...fixture(name), of_tomorrow: { a: 1 } }, moment);
        expect(event).toMatchObject({
          moment,
          conversation: fixture(name).session_id,
          cwd: '/home/ada/shop',
        });
        return [name, event];
      }),
    );
    expect(Object.keys(read).length).toBe(names.length - 1);
    expect(read['session-start']).toMatchObject({ source: 'new', isSubagent: false, tool: null });
    expect(read['session-start-compact']).toMatchObject({ source: 'compact' });
    expect(read['post-tool-use']?.tool).toEqual({
      name: 'Bash',
      input: { command: 'ls src' },
      response: 'app.js\n',
    });
    expect(read['post-tool-use-subagent']).toMatchObject({ isSubagent: true });
    expect(read['pre-compact']).toMatchObject({ isAsked: true });
    expect(read['pre-compact-auto']).toMatchObject({ isAsked: false });
    expect(read['stop']).toMatchObject({ isContinuing: false });
    expect(read['stop-active']).toMatchObject({ isContinuing: true });
    expect(read['session-end']).toMatchObject({ isCleared: false });
  });
});

describe('the wiring of Codex CLI', () => {
  const fixtures = codexWiring.fixtures({ command: 'node /opt/forge.js', isUser: false });

  it('AGT-01 adds a hook in seconds for each event that every version knows', () => {
    const hooks = fixtures.flatMap((one) => (one.kind === 'item' ? [one] : []));
    expect(hooks.map(({ path }) => path.join('.'))).toEqual(
      ['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'PreCompact', 'Stop'].map(
        (name) => `hooks.${name}`,
      ),
    );
    for (const { file, value } of hooks) {
      expect(file).toBe('.codex/hooks.json');
      const { hooks: handlers } = value as { hooks: { type: string; command: string; timeout: number }[] };
      expect(handlers).toHaveLength(1);
      const [{ type, command, timeout } = { type: '', command: '', timeout: 0 }] = handlers;
      expect(type).toBe('command');
      expect(isHookOf('codex', command)).toBe(true);
      expect(codex.events).toHaveProperty([command.split(' ').at(-1) ?? '']);
      expect(timeout).toBeLessThan(60);
    }
  });

  it('AGT-01 adds the MCP server as a table, whatever starts forge', () => {
    const [table] = fixtures.flatMap((one) => (one.kind === 'table' ? [one] : []));
    expect(table).toMatchObject({ file: '.codex/config.toml', name: 'mcp_servers.forge' });
    expect(parse(`[${table?.name}]\n${table?.lines.join('\n')}`)).toEqual({
      mcp_servers: { forge: { command: 'node', args: ['/opt/forge.js', 'mcp'] } },
    });
  });

  it('AGT-01 is the same below home, and says what a person has to do', () => {
    expect(codexWiring.fixtures({ command: 'node /opt/forge.js', isUser: true })).toEqual(fixtures);
    expect(codexWiring.wants({ command: 'forge', isUser: true }).join('\n')).toMatch(/\/hooks/);
    expect(codexWiring.wants({ command: 'forge', isUser: false }).join('\n')).toMatch(
      /\/hooks.*project that it trusts/s,
    );
  });
});
