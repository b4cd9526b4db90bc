import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blockOf, claude, contextOf, QUESTION, SILENT, talking } from '../support/agent-hooks.js';
import { agent, forgeJson, runForge } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { patch } from '../support/kfrs.js';
import { makeFolder, type Project } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

const OTHER = { options: { world: { agent: agent('other') } } };

async function lines(project: Project): Promise<string[]> {
  const { lines } = await forgeJson<{ lines: { text: string }[] }>(project, ['progress', 'show']);
  return lines.map(({ text }) => text).slice(2);
}

/** A transcript as Claude Code writes it: a call of its shell, then the result. */
function transcript(...ran: [command: string, exit: number][]): string {
  const path = join(makeFolder(), 'transcript.jsonl');
  const records = ran.flatMap(([command, exit], at) => [
    {
      type: 'assistant',
      message: { content: [{ type: 'tool_use', id: `t${at}`, name: 'Bash', input: { command } }] },
    },
    {
      type: 'user',
      message: {
        content: [
          {
            type: 'tool_result',
            tool_use_id: `t${at}`,
            content: exit === 0 ? 'fine' : `Exit code ${exit}\nfailed`,
            is_error: exit !== 0,
          },
        ],
      },
    },
  ]);
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return path;
}

describe('a turn of an agent', () => {
  it('SES-12 adds changed files, commits and commands to progress', async () => {
    const project = await makeForge();
    project.write('before.txt', 'was here');
    await claude(project, 'session-start');
    project.write('src/form.ts', 'export {};\n');
    project.write('README.md', 'Other\n');
    project.git('add', 'src');
    project.git('commit', '-qm', 'Add the form');
    const path = transcript(
      ['npm test', 1],
      ['ls -la', 0],
      ['cd app && npx tsc', 0],
      ['npm run e2e 2>&1 | tail -5', 0],
      ['set -o pipefail; npm run e2e | cat', 2],
      ['git status', 0],
      ['forge log "x; y" && forge done a; npm run lint', 0],
      [`git add -A; git commit -m "$(cat <<'EOF'\nAdd "x"; and y\nEOF\n)"`, 0],
      ['git checkout -q -b feature', 0],
      ['git push -u origin HEAD', 0],
      ['npm test', 1],
    );
    expect(await claude(project, 'stop', { transcript_path: path })).toEqual(SILENT);
    const hash = project.git('rev-parse', '--short', 'HEAD').trim();
    expect(await lines(project)).toEqual([
      'Changed: README.md',
      `Committed ${hash}: Add the form`,
      'Ran: cd app && npx tsc (exit 0); npm run e2e 2>&1 | tail -5; set -o pipefail; npm run e2e | cat (exit 2); forge log "x; y" && forge done a; npm run lint (exit 0); npm test (exit 1)',
    ]);
    await claude(project, 'stop', { transcript_path: path });
    expect(await lines(project)).toHaveLength(3);
    const { text } = await forgeJson<{ text: string }>(project, ['briefing']);
    expect(text).toContain('; npm test (exit 1)\n');
  });

  it('SES-12 names the commits that were made, not those that a pull, a merge or a switch brought', async () => {
    const project = await makeForge();
    const commit = (subject: string) => project.git('commit', '-qm', subject, '--allow-empty');
    project.git('checkout', '-qb', 'theirs');
    for (const subject of ['One', 'Two']) commit(subject);
    project.git('checkout', '-q', 'main');
    await claude(project, 'session-start');
    project.git('pull', '-q', '.', 'theirs');
    project.git('checkout', '-qb', 'mine', 'HEAD~1');
    commit('checkout: total');
    project.git('rebase', '-q', 'theirs');
    project.git('cherry-pick', '--allow-empty', 'theirs~1');
    await claude(project, 'stop');
    expect((await lines(project)).map((line) => line.replace(/ \w+:/, ''))).toEqual([
      'Committed checkout: total',
      'Committed One',
    ]);
  });

  it('SES-12 LTM-13 omits secrets in commands', async () => {
    const project = await talking();
    const secret = SAMPLES.secret();
    await claude(project, 'stop', { transcript_path: transcript([`deploy --key ${secret}`, 0]) });
    const [line] = await lines(project);
    expect(line).toMatch(/^Ran: deploy --key /);
    expect(line).not.toContain(secret);
  });

  it('SES-12 a resumed conversation does not record its old transcript again', async () => {
    const project = await talking();
    const path = transcript(['npm test', 1]);
    await claude(project, 'stop', { transcript_path: path });
    await claude(project, 'session-end', { transcript_path: path });
    const old = readFileSync(path, 'utf8').trim().split('\n');
    const stamped = old.map((line) =>
      JSON.stringify({ ...JSON.parse(line), timestamp: '2020-01-01T00:00:00Z' }),
    );
    writeFileSync(path, `${stamped.join('\n')}\n`);
    await claude(project, 'session-start', { source: 'resume' });
    await claude(project, 'stop', { transcript_path: path });
    expect(await lines(project)).toEqual(['Ran: npm test (exit 1)']);
  });

  it('SES-12 KFR-09 a failed recording does not open the gate', async () => {
    const project = await talking();
    await patch(project, [QUESTION]);
    project.write('a.txt', 'x');
    // git fails in it.
    writeFileSync(project.path('.git/index'), 'nonsense');
    expect(blockOf(await claude(project, 'stop'))).toContain('which cookie holds the token?');
  });

  it('SES-12 is bounded: the rest is counted', async () => {
    const project = await talking();
    for (let n = 0; n < 30; n++) project.write(`src/f${n}.ts`, `${n}`);
    project.git('add', '.');
    await claude(project, 'stop', {
      transcript_path: transcript(
        ...Array.from({ length: 200 }, (_, n): [string, number] => [`make part-${n}`, 0]),
      ),
    });
    const told = await lines(project);
    expect(told).toEqual([expect.stringMatching(/ and 24 more$/), expect.stringMatching(/ and 195 more$/)]);
    for (const line of told) expect(line.length).toBeLessThan(500);
  });

  it('SES-12 is not recorded if the setting is off, or in a session of another agent', async () => {
    const project = await talking();
    await runForge(project, ['config', 'set', 'session.record', 'off']);
    project.write('a.txt', 'x');
    await claude(project, 'stop');
    expect(await lines(project)).toEqual([]);
    await runForge(project, ['config', 'set', 'session.record', 'on']);
    project.write('b.txt', 'x');
    await claude(project, 'stop', { session_id: 'another', ...OTHER });
    expect(await lines(project)).toEqual([]);
  });

  it.each(['', 'nonsense', '{"name":"Bash"', '[]', '\u0000'.repeat(100)])(
    'SES-12 B-06 a transcript that holds %j stops no agent',
    async (content) => {
      const project = await talking();
      const path = join(makeFolder(), 'odd');
      writeFileSync(path, content);
      for (const transcript_path of [path, makeFolder(), '/nowhere', '/dev/null'])
        expect(await claude(project, 'stop', { transcript_path })).toEqual(SILENT);
      expect(await lines(project)).toEqual([]);
    },
  );
});

describe('an empty chat', () => {
  it('SES-12 SES-14 leaves nothing: no archive, no interrupted session, no offer', async () => {
    const project = await makeForge();
    await claude(project, 'session-start');
    await claude(project, 'user-prompt-submit');
    await claude(project, 'stop');
    await claude(project, 'session-end');
    expect(await forgeJson(project, 'session list')).toEqual({ active: null, sessions: [], more: false });
    const next = contextOf(await claude(project, 'session-start', { session_id: 'two', ...OTHER }));
    expect(next).not.toMatch(/interrupted|resume/);
    expect(project.git('status', '--porcelain')).toBe('');
  });

  it('SES-12 SES-07 a session that changed a file, or has an open question, is kept', async () => {
    const project = await makeForge();
    await claude(project, 'session-start');
    project.write('a.txt', 'x');
    await claude(project, 'session-end');
    expect(await forgeJson(project, ['session', 'list'])).toMatchObject({
      active: { status: 'interrupted' },
    });
    const other = await talking();
    await patch(other, [QUESTION]);
    await claude(other, 'session-end');
    expect(await forgeJson(other, ['session', 'list'])).toMatchObject({ active: { open_questions: 1 } });
  });
});
