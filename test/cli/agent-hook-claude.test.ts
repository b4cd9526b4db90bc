import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KFR_HEADER } from '../../src/domain/kfr/kfr.js';
import { openForge } from '../../src/index.js';
import { agent, forgeJson, runForge } from '../support/forge.js';
import { makeFolder } from '../support/project.js';
import { blockOf, claude, contextOf, hook, payload } from './agent-hooks.js';
import { at } from './agents.js';
import { patch } from './kfrs.js';
import { makeForge, snapshot } from './project.js';

const QUESTION = { op: 'add', kind: 'OpenQuestion', text: 'which cookie holds the token?' };
const GOAL = { op: 'replace', kind: 'Goal', text: 'logout works' };
const SILENT = { stdout: '', stderr: '', exitCode: 0 };

/** A conversation that has begun, in a session of its own. */
async function talking() {
  const project = await makeForge();
  await claude(project, 'session-start');
  return project;
}

const sessionOf = (project: { dir: string }) =>
  JSON.parse(readFileSync(join(project.dir, '.forge/memory/short-term/session.json'), 'utf8'));

describe('forge hook claude session-start', () => {
  it('AGT-01 SES-01 starts a session and hands over the briefing, and nothing else', async () => {
    const project = await makeForge();
    const outcome = await claude(project, 'session-start');
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(outcome.stdout)).toEqual({
      hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: expect.any(String) },
    });
    expect(contextOf(outcome)).toMatch(/^FORGE briefing, \d{4}-\d\d-\d\d-session-001\n/);
    expect(sessionOf(project).holder.agent).toBe('claude-8a0c5f6e-2b9d-4d7e-9c41-7f5f0d1f4c11');
  });

  it('AGT-01 goes on in its session on a resume, after a compaction, after /clear and in another process', async () => {
    const project = await talking();
    const first = sessionOf(project).id;
    await claude(project, 'session-start', { source: 'resume' });
    await claude(project, 'session-start', { source: 'compact' });
    await claude(project, 'session-start', { source: 'resume', options: { world: { agent: agent('new') } } });
    expect(sessionOf(project)).toMatchObject({ id: first, holder: agent('new')() });
    const inNew = { options: { world: { agent: agent('new') } } };
    await claude(project, 'session-end', { name: 'session-end-clear', ...inNew });
    await claude(project, 'session-start', { source: 'clear', session_id: 'after-clear', ...inNew });
    expect(sessionOf(project)).toMatchObject({ id: first, holder: { agent: 'claude-after-clear' } });
    expect(sessionOf(project)).not.toHaveProperty('parked');
  });

  it('SES-09 shows what is known where another agent holds the session, and takes nothing from it', async () => {
    const project = await makeForge();
    await forgeJson(project, ['session', 'start'], {
      world: { holder: agent('other'), liveness: () => 'alive' },
    });
    const before = snapshot(join(project.dir, '.forge'));
    const text = contextOf(
      await claude(project, 'session-start', { options: { world: { liveness: () => 'alive' } } }),
    );
    expect(text).toContain('FORGE briefing');
    expect(text).toContain('no session was started. Session');
    expect(text).toContain('forge session start --join');
    expect(snapshot(join(project.dir, '.forge'))).toEqual(before);
  });

  it('SES-07 AGT-01 an agent that works beside a session whose agent is gone gets its own, once that was silent', async () => {
    const project = await makeForge();
    await claude(project, 'session-start', {
      options: { world: { ...at(agent('holder'), 0), agent: agent('first') } },
    });
    const other = (minute: number) => ({
      session_id: 'other',
      options: {
        world: { ...at(agent('holder'), minute, 'gone'), agent: agent('other'), isBelow: () => false },
      },
    });
    expect(contextOf(await claude(project, 'session-start', other(1)))).toContain('no session was started');
    for (const minute of [3, 6, 9])
      for (const event of ['user-prompt-submit', 'post-tool-use', 'stop'])
        await claude(project, event, other(minute));
    expect(contextOf(await claude(project, 'session-start', other(12)))).toContain('-session-002');
  });

  it('LTM-05 says that memory is halted, and what to type', async () => {
    const project = await talking();
    writeFileSync(join(project.dir, '.forge/memory/execution.jsonl'), 'no ledger\n');
    const text = contextOf(await claude(project, 'session-start'));
    expect(text).toMatch(/no session was started\. .*\n {2}→ forge memory/);
  });

  it('AGT-01 says that working memory cannot be read, and what to type', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    project.write('.forge/memory/short-term/kfr.json', '{ bad');
    expect(contextOf(await claude(project, 'session-start', { source: 'resume' }))).toMatch(
      /no session was started.*kfr\.json:1[\s\S]*→ mv /,
    );
  });

  it('KFR-04 AGT-01 an agent is told what was patched while its briefing was written', async () => {
    const project = await talking();
    const { agent: hooks } = openForge(project.dir);
    const before = await hooks.mark();
    await patch(project, [GOAL]);
    await hooks.started('claude-late', before);
    expect(await hooks.unseen('claude-late', false)).toContain('[kfr-1]');
    await hooks.started('claude-late', await hooks.mark());
    expect(await hooks.unseen('claude-late', false)).toBeNull();
  });

  it('AGT-01 SES-03 stays below what agents take, working memory first and whole', async () => {
    const project = await makeForge();
    await forgeJson(project, ['config', 'set', 'briefing.budget', '8000']);
    for (let i = 0; i < 60; i++)
      await forgeJson(project, [
        'knowledge',
        'add',
        'invariant',
        `lesson ${i}: ${'what was learned '.repeat(12)}`,
      ]);
    await claude(project, 'session-start');
    await patch(project, [GOAL, { op: 'add', kind: 'Constraint', text: 'c'.repeat(280) }]);
    const text = contextOf(
      await claude(project, 'session-start', { name: 'session-start-compact' }),
    ) as string;
    expect(text.length).toBeLessThanOrEqual(9500);
    expect(text.length).toBeGreaterThan(5000);
    expect(text.indexOf(KFR_HEADER)).toBeLessThan(60);
    expect(text).toContain('c'.repeat(280));
    expect(text).toContain('Cut to fit');
  });
});

describe('forge hook claude user-prompt-submit and post-tool-use', () => {
  it('KFR-04 hand over working memory once, when it has changed', async () => {
    const project = await talking();
    expect(await claude(project, 'user-prompt-submit')).toEqual(SILENT);
    await patch(project, [GOAL]);
    expect(await claude(project, 'post-tool-use')).toEqual(SILENT);
    const told = contextOf(await claude(project, 'user-prompt-submit'));
    expect(told).toContain(KFR_HEADER);
    expect(told).toContain('- [kfr-1] logout works');
    expect(await claude(project, 'user-prompt-submit')).toEqual(SILENT);
    await patch(project, [{ op: 'replace', kind: 'Goal', text: 'logout and login work' }]);
    expect(contextOf(await claude(project, 'user-prompt-submit'))).toContain('[kfr-2] logout and login');
  });

  it('KFR-09 AGT-01 give it back after a compaction, with whatever is called first', async () => {
    const project = await talking();
    await patch(project, [GOAL]);
    await claude(project, 'user-prompt-submit');
    for (let i = 0; i < 4; i++)
      expect(await claude(project, 'pre-compact', { name: 'pre-compact-auto' })).toEqual(SILENT);
    expect(contextOf(await claude(project, 'post-tool-use'))).toContain('[kfr-1] logout works');
    expect(await claude(project, 'post-tool-use')).toEqual(SILENT);
    await claude(project, 'pre-compact', { name: 'pre-compact-auto' });
    expect(contextOf(await claude(project, 'session-start', { name: 'session-start-compact' }))).toContain(
      '[kfr-1]',
    );
    expect(await claude(project, 'user-prompt-submit')).toEqual(SILENT);
  });

  it('AGT-01 have nothing to say before a tool, nor to a sub-agent', async () => {
    const project = await talking();
    await patch(project, [GOAL, QUESTION]);
    expect(await claude(project, 'pre-tool-use')).toEqual(SILENT);
    const sub = { agent_id: 'agent-7', agent_type: 'Explore' };
    expect(await claude(project, 'user-prompt-submit', sub)).toEqual(SILENT);
    expect(await claude(project, 'post-tool-use', sub)).toEqual(SILENT);
    expect(await claude(project, 'stop', sub)).toEqual(SILENT);
    expect(contextOf(await claude(project, 'user-prompt-submit'))).toContain('[kfr-1]');
  });
});

describe('forge hook claude stop and pre-compact', () => {
  it('KFR-09 hold an agent back while a question is open, name it and the ways out, and let it go then', async () => {
    const project = await talking();
    expect(await claude(project, 'stop')).toEqual(SILENT);
    await patch(project, [GOAL, QUESTION]);
    const outcome = await claude(project, 'stop');
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(outcome.stdout)).toEqual({ decision: 'block', reason: expect.any(String) });
    expect(blockOf(outcome)).toContain('- kfr-2 (OpenQuestion) which cookie holds the token?');
    expect(blockOf(outcome)).toContain('forge kfr patch --resolve kfr-2="the answer"');
    expect(blockOf(outcome)).toContain('--park kfr-2=');
    await runForge(project, ['kfr', 'patch', '--resolve', 'kfr-2=sid']);
    expect(await claude(project, 'stop', { name: 'stop-active' })).toEqual(SILENT);
  });

  it('KFR-09 a parked question opens the stop, and not a compaction that was asked for', async () => {
    const project = await talking();
    await patch(project, [QUESTION, { op: 'park', id: 'kfr-1', reason: 'Ada decides' }]);
    expect(await claude(project, 'stop')).toEqual(SILENT);
    const asked = await claude(project, 'pre-compact', { name: 'pre-compact-manual' });
    expect(blockOf(asked)).toContain('before you compact the conversation, 1 entry');
    expect(blockOf(asked)).not.toContain('--park');
    expect(await claude(project, 'pre-compact', { name: 'pre-compact-auto' })).toEqual(SILENT);
  });

  it('AGT-01 never loop: after eight blocks in a row the agent goes free, until a person speaks', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    const row = async (): Promise<boolean[]> => {
      const blocks = [blockOf(await claude(project, 'stop')) !== null];
      for (let i = 1; i < 10; i++)
        blocks.push(blockOf(await claude(project, 'stop', { name: 'stop-active' })) !== null);
      return blocks;
    };
    const eight = [...Array(8).fill(true), false, false];
    expect(await row()).toEqual(eight);
    expect(await row()).toEqual(eight);
    await claude(project, 'user-prompt-submit');
    expect(blockOf(await claude(project, 'stop', { name: 'stop-active' }))).not.toBeNull();
  });

  it('KFR-09 SES-09 another agent is not held to the questions of a session that somebody else is at work in', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    const other = (liveness: 'alive' | 'gone') => ({
      session_id: 'other',
      options: { world: { agent: agent('other'), liveness: () => liveness, isBelow: () => false } },
    });
    for (const name of ['stop', 'pre-compact-manual'])
      expect(await claude(project, name.replace('-manual', ''), { name, ...other('alive') })).toEqual(SILENT);
    // Nobody else is there to settle it.
    expect(blockOf(await claude(project, 'stop', other('gone')))).toContain('kfr-1');
  });

  it('KFR-09 LTM-05 nobody is held to what cannot be settled: while memory is halted, in a copy of the folder', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    const copy = { dir: join(makeFolder(), 'copy') };
    cpSync(project.dir, copy.dir, { recursive: true });
    expect(await claude(copy, 'stop')).toEqual(SILENT);
    expect(blockOf(await claude(project, 'stop'))).not.toBeNull();
    project.write('.forge/memory/evaluation.jsonl', '{"a":1}\n');
    await runForge(project, ['memory', 'verify']);
    expect(await claude(project, 'stop')).toEqual(SILENT);
    expect(await claude(project, 'pre-compact', { name: 'pre-compact-manual' })).toEqual(SILENT);
  });

  it('AGT-01 never loop: whatever became of the file that counts', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    const [name] = readdirSync(join(project.dir, '.git/forge/agents'));
    for (const content of ['{"blocks":-1000}', '{"blocks":0.5,"seen":7,"process":"x"}', '5', '[]', '{', '']) {
      project.write(`.git/forge/agents/${name}`, content);
      for (let i = 0; i < 9; i++) await claude(project, 'stop', { name: 'stop-active' });
      expect(await claude(project, 'stop', { name: 'stop-active' }), content).toEqual(SILENT);
    }
  });

  it('KFR-09 hold an agent back however much stands in working memory', async () => {
    const project = await talking();
    await runForge(project, ['config', 'set', 'kfr.tokens', '8000']);
    for (let part = 0; part < 4; part++)
      await patch(
        project,
        Array.from({ length: 90 }, (_, i) => ({ op: 'add', kind: 'Constraint', text: `c${part}-${i}` })),
      );
    await patch(project, [QUESTION]);
    await claude(project, 'user-prompt-submit');
    expect(await claude(project, 'user-prompt-submit')).toEqual(SILENT);
    expect(blockOf(await claude(project, 'stop'))).toContain('which cookie');
  });

  it('AGT-01 remember a few conversations, whichever hooks they call', async () => {
    const project = await talking();
    await patch(project, [GOAL]);
    for (let i = 0; i < 30; i++) await claude(project, 'user-prompt-submit', { session_id: `c${i}` });
    expect(readdirSync(join(project.dir, '.git/forge/agents')).length).toBeLessThan(25);
  });

  it('AGT-01 let an agent go where its stops cannot be counted', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    rmSync(join(project.dir, '.git/forge/agents'), { recursive: true });
    writeFileSync(join(project.dir, '.git/forge/agents'), 'in the way');
    expect(await claude(project, 'stop')).toEqual(SILENT);
  });
});

describe('forge hook claude session-end', () => {
  it('AGT-01 SES-07 marks the session parked without gate or commit; the next start offers it', async () => {
    const project = await talking();
    await runForge(project, ['progress', 'add', 'wired the button']);
    await patch(project, [GOAL]);
    const left = sessionOf(project).id;
    const commits = project.git('rev-list', '--all', '--count');
    expect(await claude(project, 'session-end')).toEqual(SILENT);
    expect(sessionOf(project)).toMatchObject({
      id: left,
      parked: { agent: expect.stringMatching(/^claude-8a0c/) },
    });
    expect(project.git('rev-list', '--all', '--count')).toBe(commits);
    const text = contextOf(await claude(project, 'session-start', { session_id: 'tomorrow' }));
    expect(text).toContain('session-002');
    expect(text).toContain('! Session');
    expect(text).toMatch(
      /was interrupted \(claude ended at .*with its working memory.*forge session start --resume/,
    );
    const resumed = await forgeJson<{ session: { resumed_from: string } }>(project, [
      'session',
      'start',
      '--resume',
      'latest',
    ]);
    expect(left).toContain(resumed.session.resumed_from);
  });

  it('KFR-09 a session that was left with a question open is not left behind: the next start shows it', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    await claude(project, 'session-end');
    const text = contextOf(await claude(project, 'session-start', { session_id: 'tomorrow' }));
    expect(text).toContain('[kfr-1, requires resolution] which cookie holds the token?');
    expect(text).toMatch(
      /no session was started\. .*was interrupted and cannot be left.*\n {2}→ forge session start --resume/,
    );
  });

  it('AGT-01 the same conversation that comes back goes on in it', async () => {
    const project = await talking();
    const { id } = sessionOf(project);
    await claude(project, 'session-end');
    const text = contextOf(await claude(project, 'session-start', { source: 'resume' }));
    expect(text).not.toContain('was interrupted');
    expect(sessionOf(project).id).toBe(id);
    expect(sessionOf(project)).not.toHaveProperty('parked');
  });

  it('AGT-01 a conversation that ends parks nothing for another one of the same process', async () => {
    const project = await talking();
    await claude(project, 'session-start', { session_id: 'second' });
    await claude(project, 'session-end');
    expect(sessionOf(project)).not.toHaveProperty('parked');
    const context = contextOf(await claude(project, 'session-start', { session_id: 'second' }));
    expect(context).toContain('-session-001');
    expect(context).not.toContain('was interrupted');
    await claude(project, 'session-end', { session_id: 'second' });
    expect(sessionOf(project).parked).toMatchObject({ agent: 'claude-second' });
  });

  it('AGT-01 a session that a person holds is not parked by an agent that worked in it', async () => {
    const project = await makeForge();
    await forgeJson(project, ['session', 'start'], { world: { holder: agent('terminal') } });
    const below = {
      world: { agent: agent('claude'), isBelow: () => true, liveness: () => 'alive' as const },
    };
    const text = contextOf(await claude(project, 'session-start', { options: below }));
    expect(text).not.toContain('no session was started');
    const before = snapshot(join(project.dir, '.forge'));
    await claude(project, 'session-end', { options: below });
    expect(snapshot(join(project.dir, '.forge'))).toEqual(before);
  });
});

describe('forge hook with what no agent should send', () => {
  const hostile: [string, string][] = [
    ['nothing', ''],
    ['no JSON', '{"session_id": '],
    ['a list', '[]'],
    ['null', 'null'],
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

  it('AGT-01 unknown fields, events and agents; extra words; another case', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    const stop = payload('claude', 'stop', { cwd: project.dir, a_new_field: { deep: [1] } });
    expect(blockOf(await hook(project, ['claude', 'stop'], stop))).not.toBeNull();
    expect(blockOf(await hook(project, ['claude', 'Stop'], stop))).not.toBeNull();
    for (const words of [['claude', 'teleport'], ['nobody', 'stop'], ['claude'], []])
      expect(await runForge(project, ['hook', ...words], { stdin: JSON.stringify(stop) })).toEqual(SILENT);
    const more = ['hook', 'claude', 'stop', '--json'];
    expect(blockOf(await runForge(project, more, { stdin: JSON.stringify(stop) }))).not.toBeNull();
  });

  it('AGT-01 a payload of 10 MB', async () => {
    const project = await talking();
    const big = { tool_response: { text: 'x'.repeat(10_000_000) } };
    expect(await claude(project, 'post-tool-use', big)).toEqual(SILENT);
    await patch(project, [QUESTION]);
    expect(blockOf(await claude(project, 'stop', big))).not.toBeNull();
  });

  it('AGT-01 a folder without forge, and one that is gone', async () => {
    const project = await makeForge();
    const outside = payload('claude', 'session-start', { cwd: '/' });
    expect(await hook({ dir: '/' }, ['claude', 'session-start'], outside)).toEqual(SILENT);
    const gone = payload('claude', 'session-start', { cwd: join(project.dir, 'was', 'here') });
    expect(contextOf(await hook({ dir: '/' }, ['claude', 'session-start'], gone))).toContain(
      'FORGE briefing',
    );
    const lost = await hook(
      project,
      ['claude', 'stop'],
      { cwd: '/nowhere' },
      {
        cwd: () => {
          throw new Error('ENOENT');
        },
        env: { CLAUDE_PROJECT_DIR: '/nowhere' },
      },
    );
    expect(lost).toEqual(SILENT);
  });

  it.each(['../../../../etc/passwd', `a/${'x'.repeat(10_000)}`, '\u001b[2J\n"}', '..', ''])(
    'AGT-01 the session id %j: nothing is written but what forge names itself',
    async (session_id) => {
      const project = await makeForge();
      const text = contextOf(await claude(project, 'session-start', { session_id }));
      expect(text).toContain('FORGE briefing');
      const [file, ...others] = readdirSync(join(project.dir, '.git/forge/agents'));
      expect(others).toEqual([]);
      expect(file).toMatch(/^claude-([0-9a-f]{32}|unnamed)\.json$/);
    },
  );

  it('AGT-01 errors of its own let the agent go on; one line in the log says so, with nothing of the payload', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    writeFileSync(join(project.dir, '.forge/memory/short-term/kfr.json'), '{"entries": 7');
    expect(await claude(project, 'stop')).toEqual(SILENT);
    expect(await claude(project, 'user-prompt-submit', { prompt: 'the secret plan' })).toEqual(SILENT);
    const log = readFileSync(join(project.dir, '.git/forge/hooks.log'), 'utf8');
    expect(log).toMatch(/^\S+ claude stop: \S+\n\S+ claude user-prompt-submit: \S+\n$/);
    expect(existsSync(join(project.dir, '.forge/local/hooks.log'))).toBe(false);
  });

  it('AGT-01 typed by a person it says who calls it', async () => {
    const project = await makeForge();
    const { exitCode, stderr } = await runForge(project, ['hook', 'claude', 'stop'], { terminal: true });
    expect(exitCode).toBe(2);
    expect(stderr).toBe(
      'forge: forge hook is called by agents, with the event as JSON on stdin.\n  → forge agent install claude\n',
    );
  });
});
