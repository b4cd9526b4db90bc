import { appendFileSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SessionDetail } from '../../src/index.js';
import { type Answers, ROUTES } from '../../src/ui/api.js';
import { forgeJson, runForge } from '../support/forge.js';
import { differences, makeForge, snapshot } from '../support/forge-project.js';
import { ask, askApi, servePage } from '../support/page.js';
import { knownId, makeLived } from '../support/page-project.js';
import type { Project } from '../support/project.js';

type Documented = Record<string, { required: string[]; optional: string[] }>;

/** The fields of each answer in docs/page-api.md. */
function documented(): Documented {
  const text = readFileSync(new URL('../../docs/page-api.md', import.meta.url), 'utf8');
  const sections = [...text.matchAll(/^### \/api\/(\S+)\n.*?^```text\n(.*?)^```/gms)];
  return Object.fromEntries(
    sections.map(([, route = '', answer = '']) => {
      const fields = [...answer.matchAll(/^ {2}(\w+)(\??):/gm)];
      const named = (mark: string) => fields.flatMap((field) => (field[2] === mark ? [field[1] ?? ''] : []));
      return [route, { required: named(''), optional: named('?') }];
    }),
  );
}

async function idsOf(project: Project): Promise<Record<string, string | undefined>> {
  const [record] = (await forgeJson<{ records: { id: string }[] }>(project, ['memory', 'log'])).records;
  const [session] = (await forgeJson<{ sessions: { id: string }[] }>(project, ['session', 'list'])).sessions;
  return {
    ...{ 'features/:id': 'CART', 'checkpoints/:id': 'CART-v1', 'knowledge/:id': await knownId(project) },
    ...{ 'sessions/:id': session?.id, 'records/:id': record?.id },
  };
}

describe('the page’s API', () => {
  it('VIS-03 answers each route with the fields that its page documents, and changes nothing', async () => {
    const lived = await makeLived();
    const server = await servePage(lived);
    const ids = await idsOf(lived);
    const fields = documented();
    expect(Object.keys(fields)).toEqual(Object.keys(ROUTES));
    const before = snapshot(lived.dir);
    for (const route of Object.keys(ROUTES)) {
      const path = `/api/${route.replace(':id', ids[route] ?? '')}${route === 'recall' ? '?q=cart' : ''}`;
      const found = Object.keys(await askApi<object>(server, path));
      const { required = [], optional = [] } = fields[route] ?? {};
      expect([route, found]).toEqual([route, expect.arrayContaining(required)]);
      const others = found.filter((name) => ![...required, ...optional].includes(name));
      expect([route, others]).toEqual([route, []]);
    }
    const changed = differences(before, snapshot(lived.dir)).filter((path) => !/recall/.test(path));
    expect(changed).toEqual([]);
  });

  it('VIS-03 shows what was learned since the last question', async () => {
    const project = await makeForge();
    const server = await servePage(project);
    const patterns = [{ pattern: 'retry the install once', scope: 'execution', holds: true }];
    const result = { exit_code: 0, classification: 'SUCCESS', environment_valid: true };
    const cycle = { task_id: 'A-1', ...result, patterns };
    for (const seen of [1, 2]) {
      project.write('cycle.json', JSON.stringify(cycle));
      await forgeJson(project, ['memory', 'record', 'cycle.json']);
      for (let i = 0; i < 2; i++) {
        const { candidates, consolidation } = await askApi<Answers['knowledge']>(server, '/api/knowledge');
        expect(candidates).toMatchObject([{ pattern: 'retry the install once', seen }]);
        expect(consolidation.due_in).toBe(10 - seen);
      }
      // An answer is kept once its files have been still for 50 ms.
      await new Promise((done) => setTimeout(done, 60));
      await askApi(server, '/api/knowledge');
    }
  });

  it('VIS-02 EVT-03 shows who works on what', async () => {
    const lived = await makeLived();
    await forgeJson(lived, ['claim', 'CART']);
    const server = await servePage(lived);
    const { source, rows } = await askApi<Answers['fleet']>(server, '/api/fleet');
    expect(source).toBe('machine');
    // Its session's focus is another one.
    const working = rows.map(({ task, health }) => [task, health]).sort();
    expect(working).toEqual([
      ['CART', 'working'],
      ['PAY: Payment is retried', 'working'],
    ]);
  });

  it('VIS-02 shows the work, what is proved and by what, what a person has to decide, and what a session left', async () => {
    const lived = await makeLived();
    const server = await servePage(lived);
    const overview = await askApi<Answers['overview']>(server, '/api/overview');
    const { value } = await forgeJson<{ value: string }>(lived, 'config get project.name');
    expect(overview.project.name).toBe(value);
    const parts = ['long-term', 'short-term', 'features', 'git', 'linear'];
    expect(overview.health.map(({ name }) => name)).toEqual(parts);
    expect(overview.features).toMatchObject({ passing: 1, not_implemented: 1 });
    expect(overview.memory.status).toBe('intact');
    expect(overview.decisions[0]).toEqual({
      what: 'Open question kfr-2',
      why: 'How long?',
      commands: ['forge kfr patch --resolve "kfr-2=TEXT"', 'forge kfr patch --dismiss "kfr-2=TEXT"'],
    });
    const feature = await askApi<Answers['features/:id']>(server, '/api/features/CART');
    expect(feature.feature).toMatchObject({ status: 'passing', verified_by: ['node check.mjs'] });
    expect(feature.checkpoints.map(({ tag }) => tag)).toEqual(['checkpoint/CART-v1']);
    expect(feature.history.length).toBeGreaterThan(24);
    // From a fact to its cycles, records and commits.
    const chain = await askApi<Answers['knowledge/:id']>(server, `/api/knowledge/${await knownId(lived)}`);
    expect(chain.knowledge).toMatchObject({ pattern: 'retry the install once', status: 'valid' });
    expect(chain.evidence.length).toBeGreaterThanOrEqual(3);
    const [link] = chain.evidence;
    expect(link).toMatchObject({ cycle: 1, task_id: 'CART', classification: 'SUCCESS', exit_code: 0 });
    // The commit that has the record's file.
    const files = lived.git('show', '--name-only', '--format=', link?.commit ?? '');
    expect(files).toContain(`.forge/memory/ledger/${link?.file}`);
    const record = await askApi<Answers['records/:id']>(server, `/api/records/${link?.evaluation}`);
    expect(record.record).toMatchObject({ classification: 'SUCCESS', execution: link?.execution });
    // A session with its progress, commits and cycles.
    const { active, sessions } = await askApi<Answers['sessions']>(server, '/api/sessions');
    const detail = await askApi<Answers['sessions/:id']>(server, `/api/sessions/${sessions[0]?.id}`);
    expect(sessions[0]?.task).toBe(detail.focus.task);
    expect(sessions[0]?.task).toMatch(/\w/);
    expect(detail.progress.map(({ text }) => text)).toContain('Read the cart');
    expect(detail.commits.map(({ subject }) => subject).join('\n')).toContain('Session end');
    expect(detail.records.length).toBeGreaterThan(24);
    const running = await askApi<Answers['sessions/:id']>(server, `/api/sessions/${active?.id}`);
    expect(running.session.status).toBe('running');
    expect(running.kfr.map(({ text }) => text)).toEqual(['Payments survive', 'How long?']);
  });

  it('VIS-02 SES-08 a session has its own lessons and commits, not those of the next one', async () => {
    const project = await makeForge();
    const id = async (): Promise<string> =>
      (await forgeJson<{ session: { id: string } }>(project, ['session', 'start'])).session.id;
    const first = await id();
    await forgeJson(project, ['learn', 'Ports are random', '--as', 'success']);
    await forgeJson(project, ['session', 'end', '--learned', 'Dates are UTC']);
    const second = await id();
    await forgeJson(project, ['learn', 'Names are unique', '--as', 'success']);
    await forgeJson(project, ['session', 'end']);
    const server = await servePage(project);
    const of = async (session: string) => {
      const { lessons, commits } = await askApi<Answers['sessions/:id']>(server, `/api/sessions/${session}`);
      const { learned } = (await forgeJson<SessionDetail>(project, ['session', 'show', session])).session;
      return { learned: [...learned].sort(), lessons: lessons.length, commits: commits.length };
    };
    const learned = ['Dates are UTC', 'Ports are random'];
    expect(await of(first)).toEqual({ learned, lessons: 2, commits: 1 });
    expect(await of(second)).toEqual({ learned: ['Names are unique'], lessons: 1, commits: 1 });
  });

  it('VIS-03 pages the log from the newest record on', async () => {
    const lived = await makeLived();
    const server = await servePage(lived);
    const all = await askApi<Answers['log']>(server, '/api/log?limit=500');
    expect(all.records.length).toBe(all.total);
    expect(all.records.map(({ n }) => n)).toEqual(all.records.map(({ n }) => n).sort((a, b) => b - a));
    const page = await askApi<Answers['log']>(server, '/api/log?offset=3&limit=2');
    expect(page.records).toEqual(all.records.slice(3, 5));
    const knowledge = await askApi<Answers['log']>(server, '/api/log?tier=knowledge');
    expect(new Set(knowledge.records.map(({ tier }) => tier))).toEqual(new Set(['knowledge']));
    const found = await askApi<Answers['log']>(server, '/api/log?text=INSTALL%20once');
    expect(found.records.map(({ text }) => text)).toEqual(['retry the install once']);
    for (const wrong of ['tier=x', 'limit=0', 'limit=1e9', 'offset=-1', 'limit=x']) {
      const headers = { authorization: `bearer ${server.token}` };
      const { status, body } = await ask(server, `/api/log?${wrong}`, { headers });
      expect([wrong, status, JSON.parse(body).error.exit]).toEqual([wrong, 400, 2]);
    }
  });

  it('VIS-02 shows a corrupted ledger, and stays up', async () => {
    const project = await makeForge();
    await forgeJson(project, ['memory', 'record', '--task', 'A', '--exit-code', '0']);
    const server = await servePage(project);
    const folder = project.path('.forge/memory/ledger');
    const file = readdirSync(folder).find((name) => !name.startsWith('init')) ?? '';
    appendFileSync(join(folder, file), 'no record\n');
    const poll = async () => (await askApi<Answers['ledger']>(server, '/api/ledger')).status;
    await expect.poll(poll).toBe('corrupted');
    const overview = await askApi<Answers['overview']>(server, '/api/overview');
    expect(overview.memory.status).toBe('corrupted');
    const red = { name: 'long-term', color: 'red', fix: ['forge memory verify'] };
    expect(overview.health[0]).toMatchObject(red);
    const { problems } = await askApi<Answers['ledger']>(server, '/api/ledger');
    expect(problems[0]?.file).toContain(file);
    expect((await askApi<Answers['log']>(server, '/api/log')).total).toBe(1);
    // It looked, and halted nothing.
    expect(project.has('.git/forge/halt.json')).toBe(false);
  });

  it('VIS-02 says that the folder is gone, and goes on when it is back', async () => {
    const project = await makeForge();
    const server = await servePage(project);
    renameSync(project.path('.forge'), project.path('away'));
    const status = async () =>
      (await ask(server, '/api/features', { headers: { authorization: `Bearer ${server.token}` } })).status;
    await expect.poll(status).toBe(503);
    renameSync(project.path('away'), project.path('.forge'));
    await expect.poll(status).toBe(200);
    await runForge(project, ['feature', 'add', 'A', 'New']);
    const ids = async () =>
      (await askApi<Answers['features']>(server, '/api/features')).features.map(({ id }) => id);
    await expect.poll(ids).toEqual(['A']);
  });
});
