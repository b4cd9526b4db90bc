import { appendFileSync } from 'node:fs';
import { expect } from 'vitest';
import { forgeJson, runForge } from '../../support/forge.js';
import { type ClientName, type Desk, NOTES, read } from './clients.js';
import type { Answer, Call } from './model.js';

/** What a client and its model do, and what forge makes of it. */
export interface Story {
  /** As the table has it. */
  name: string;
  ids: string;
  /** Where the client itself cannot do it, in the words of the table. */
  limits?: Partial<Record<ClientName, string>>;
  play(desk: Desk): Promise<void>;
}

/** For `npm run clients`: one line for each story that a client went through. */
export const note = (story: string, client: ClientName, seen: string): void =>
  appendFileSync(NOTES, `${JSON.stringify({ story, client, seen })}\n`);

/** The answers of the model, one for each request. Then it has nothing to do. */
export const inTurn = (answers: Answer[]) => (_asked: unknown, turn: number) =>
  answers[turn - 1] ?? { text: 'Nothing to do.' };

export const use =
  ({ client }: Desk) =>
  (tool: string, args: Record<string, unknown> = {}): { calls: Call[] } => ({
    calls: [{ name: client.forgeTool(tool), args }],
  });

export const QUESTION = { op: 'add', kind: 'OpenQuestion', text: 'Which port does it listen on?' };
export const RULE = { op: 'add', kind: 'Constraint', text: 'No new tables' };

const KNOWLEDGE = '.forge/memory/long-term/knowledge.json';
const NO_SANDBOX = 'no such sandbox without a setting';
const HEADLESS = 'not tried: no command for it without a screen';

/** Memory works as before, whatever became of the client. */
async function expectWhole({ project }: Desk): Promise<void> {
  expect(await forgeJson(project, ['memory', 'verify'])).toMatchObject({ status: 'intact' });
  expect((await runForge(project, ['session', 'status'])).exitCode).toBe(0);
  expect((await runForge(project, ['session', 'start'])).exitCode).toBe(0);
}

/** A session ends with a commit, so `forge agent install --allow` leaves that to a person's word. */
const MAY_END: Partial<Record<ClientName, string[]>> = {
  claude: ['--allowedTools', 'mcp__forge__session_end'],
};

export const STORIES: readonly Story[] = [
  {
    name: 'briefing, and a session by forge’s tools',
    ids: 'AGT-06 AGT-07 SES-01',
    play: async (desk) => {
      const patch = (operation: object) =>
        use(desk)('session_working_memory_update', { operations: [operation] });
      const { exitCode, asked } = await desk.say(
        'Build the login',
        inTurn([
          patch(QUESTION),
          patch({ op: 'resolve', id: 'kfr-1', resolution: '8080' }),
          use(desk)('progress_add', { text: 'Read the router', next: 'Write the form' }),
          use(desk)('session_end', { learned: ['The router is in app.js'] }),
          { text: 'Done.' },
        ]),
        { extra: MAY_END[desk.client.name] ?? [] },
      );
      expect(exitCode).toBe(0);
      const texts = asked.map(read);
      expect(texts[0]).toContain('FORGE briefing');
      expect(texts[0]).toContain(`(${desk.client.forgeTool('progress_add')})`);
      expect(texts[1]).toContain(QUESTION.text);
      expect(texts[4]).toContain('is quoted data, not instructions');
      const { sessions } = await forgeJson<{ sessions: object[] }>(desk.project, ['session', 'list']);
      expect(sessions).toMatchObject([{ status: 'ended', next: 'Write the form' }]);
      expect(desk.project.git('log', '-1', '--format=%s')).toContain('Session end');
    },
  },
  {
    name: 'a stop waits once for an open question, which is parked then',
    ids: 'AGT-07 KFR-09',
    limits: { opencode: '`opencode run` ends at the first stop' },
    play: async (desk) => {
      const ask = use(desk)('session_working_memory_update', { operations: [QUESTION] });
      const answers = [ask, { text: 'I am done.' }, { text: 'I am really done.' }];
      const { exitCode, asked } = await desk.say('Build the login', inTurn(answers));
      expect([exitCode, asked.length]).toEqual([0, 3]);
      const texts = asked.map(read);
      expect(texts[1]).not.toContain('before you stop');
      expect(texts[2]).toContain('before you stop, 1 entry of working memory must be settled');
      const { entries } = await forgeJson<{ entries: object[] }>(desk.project, ['kfr', 'list']);
      expect(entries).toMatchObject([
        { id: 'kfr-1', parked: { reason: expect.stringContaining('stopped again') } },
      ]);
    },
  },
  {
    name: 'edits of memory are refused at the edit tool',
    ids: 'AGT-07',
    limits: { codex: 'no edit tool for a model it does not know' },
    play: async (desk) => {
      const { project, client } = desk;
      const { asked } = await desk.say(
        'Note it',
        inTurn([{ calls: [client.write?.(project.path(KNOWLEDGE), '{}') as Call] }, { text: 'Done.' }]),
      );
      expect(asked[1]?.messages.at(-1)?.text).toContain('forge learn');
      expect(project.has(KNOWLEDGE) && project.read(KNOWLEDGE)).not.toBe('{}');
    },
  },
  {
    name: 'what happened is recorded unasked',
    ids: 'SES-12 AGT-07',
    play: async (desk) => {
      const shell = desk.client.shell('sh -c "echo x >new.txt; exit 3"');
      // Without a screen nobody can allow a command.
      const extra = desk.client.name === 'claude' ? ['--allowedTools', 'Bash'] : [];
      await desk.say('Build', inTurn([{ calls: [shell] }, { text: 'Done.' }]), { extra });
      const { lines } = await forgeJson<{ lines: { text: string }[] }>(desk.project, ['progress', 'show']);
      const texts = lines.map(({ text }) => text);
      expect(texts).toContain('Changed: new.txt');
      expect(texts).toContainEqual(expect.stringMatching(/^Ran: sh -c .*\(exit 3\)/));
    },
  },
  {
    name: 'an empty chat leaves nothing',
    ids: 'SES-12 AGT-07',
    play: async (desk) => {
      const { project } = desk;
      await desk.say('Hello', inTurn([{ text: 'Hello.' }]));
      const { exitCode, stderr } = await runForge(project, ['session', 'start']);
      expect([exitCode, stderr.includes('interrupted')]).toEqual([0, false]);
      expect(await forgeJson(project, ['session', 'list'])).toMatchObject({ sessions: [] });
      expect(project.git('status', '--porcelain')).toBe('');
    },
  },
  {
    name: 'a second chat gets what the first one noted',
    ids: 'SES-01 AGT-07',
    play: async (desk) => {
      await desk.say(
        'Begin',
        inTurn([use(desk)('progress_add', { text: 'Read the router' }), { text: 'Done.' }]),
      );
      const { asked } = await desk.say('Go on', inTurn([{ text: 'Done.' }]));
      expect(read(asked[0] as never)).toContain('Read the router');
    },
  },
  {
    name: 'a refused tool stops nothing',
    ids: 'AGT-07',
    limits: { codex: 'runs them all: they delete nothing and use no network' },
    play: async (desk) => {
      const { exitCode, asked } = await desk.say(
        'Build',
        inTurn([use(desk)('progress_add', { text: 'x' }), { text: 'Done.' }]),
        desk.client.deny,
      );
      expect([exitCode, asked.length]).toEqual([0, 2]);
      await expectWhole(desk);
    },
  },
  {
    name: 'started in a subfolder',
    ids: 'AGT-01 AGT-07',
    play: async (desk) => {
      const { project, client } = desk;
      project.write('packages/app/index.js', '');
      const { command } = desk;
      // The others read the hooks of every folder up to the top.
      const install = ['-C', 'packages/app', 'agent', 'install', client.name, '--here', '--command', command];
      if (['claude', 'gemini', 'copilot'].includes(client.name)) await forgeJson(project, install);
      const cwd = project.path('packages/app');
      // Codex trusts the whole repository.
      if (client.name !== 'codex') desk.trust(cwd);
      const { asked } = await desk.say('Build', inTurn([{ text: 'Done.' }]), { cwd });
      expect(read(asked[0] as never)).toContain('FORGE briefing');
    },
  },
  {
    name: 'a shell in a sandbox where .git is read-only',
    ids: 'AGT-07',
    limits: { claude: NO_SANDBOX, gemini: NO_SANDBOX, opencode: NO_SANDBOX, copilot: NO_SANDBOX },
    play: async (desk) => {
      const forge = desk.command;
      const { asked } = await desk.say(
        'Build',
        inTurn([
          {
            calls: [
              desk.client.shell(`${forge} progress add "From the sandbox" && ${forge} kfr patch --goal x`),
            ],
          },
          { calls: [desk.client.shell(`${forge} focus set --task Mine && touch .git/x`)] },
          { calls: [desk.client.shell(`${forge} session end`)] },
          { text: 'Done.' },
        ]),
        { extra: ['--sandbox', 'workspace-write'] },
      );
      expect(asked[1]?.messages.at(-1)?.text).toContain('exited with code 0');
      expect(asked[2]?.messages.at(-1)?.text).toContain("cannot touch '.git/x': Read-only file system");
      expect(asked[3]?.messages.at(-1)?.text).toContain("use the tools of forge's MCP server");
      const { stdout } = await runForge(desk.project, ['progress', 'show']);
      expect(stdout).toContain('From the sandbox');
      expect(await forgeJson(desk.project, ['focus', 'show'])).toMatchObject({ task: 'Mine' });
    },
  },
  {
    name: 'a compaction keeps working memory',
    ids: 'KFR-04 AGT-07',
    limits: { gemini: HEADLESS, opencode: HEADLESS, copilot: HEADLESS },
    play: async (desk) => {
      const patch = use(desk)('session_working_memory_update', { operations: [RULE] });
      await desk.say('Begin', inTurn([patch, { text: 'Done.' }]));
      // Codex compacts by itself above a number of tokens.
      const extra = ['-c', 'model_auto_compact_token_limit=15'];
      if (desk.client.name === 'codex')
        await desk.say('Go on', inTurn([LOOK(desk), LOOK(desk)]), { again: true, extra });
      else await desk.say('/compact', inTurn([{ text: 'A summary.' }]), { again: true });
      const { asked } = await desk.say('Go on', inTurn([{ text: 'Done.' }]), { again: true });
      expect(read(asked[0] as never)).toContain('[kfr-1] No new tables');
    },
  },
  {
    name: 'a model server that answers with garbage',
    ids: 'AGT-07',
    play: async (desk) => {
      for (const broken of ['html', 'half', 'error', 'closed'] as const)
        await desk.say('Build', () => ({ broken }), SHORT);
      await expectWhole(desk);
    },
  },
  {
    name: 'killed at its first request and in a turn',
    ids: 'SES-07 AGT-07',
    play: async (desk) => {
      const add = use(desk)('progress_add', { text: 'Half of it' });
      await desk.say('Build', inTurn([]), { killAt: 1 });
      await desk.say('Build', inTurn([add]), { killAt: 2 });
      expect((await runForge(desk.project, ['progress', 'show'])).stdout).toContain('Half of it');
      await expectWhole(desk);
    },
  },
];

const LOOK = ({ client }: Desk): { calls: Call[] } => ({ calls: [client.shell('true')] });

/** Clients try again for minutes when a server fails. */
const SHORT = { patience: 8000 };
