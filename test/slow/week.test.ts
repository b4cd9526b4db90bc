import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Briefing, Recalled } from '../../src/index.js';
import { BIN, forgeJson, runForge, startBinary } from '../support/forge.js';
import { makeForge } from '../support/forge-project.js';
import { kills, report } from '../support/kills.js';
import { randomOf } from '../support/ledger-world.js';
import { hasNats, type Listed, type NatsServer, startNats } from '../support/nats-server.js';
import { makeFolder, type Project, projectAt, run } from '../support/project.js';

/**
 * A week in fast motion: agents on two clones with a worktree each, sessions, cycles, commits, pull requests merged in the
 * three ways of hosting services, rebases, kills, full disks, clocks that jump, two writers at once, a server of events that comes
 * and goes, and people who override.
 */

const SESSIONS = kills(4, 200);
const CYCLES = 10;
const HOURS = 3_600_000;

const FACTS: readonly (readonly [fact: string, question: string])[] = [
  ['The invoice export times out after forty pages', 'how many pages can an invoice have'],
  ['Redis evicts sessions when maxmemory is reached', 'why do redis entries vanish'],
  ['The Danube gateway needs TLS 1.3', 'which protocol version for the danube host'],
  ['Thumbnails are cropped from the upper left corner', 'thumbnails: where does the picture begin'],
  ['Postgres vacuum blocks the nightly import', 'nightly job hangs on postgres'],
  ['The parser accepts trailing commas since March', 'are commas at the end fine for the parser'],
  ['Feature flags are cached for ninety seconds', 'when do changed flags take effect'],
  ['The kiosk build must not contain source maps', 'what is forbidden in the kiosk bundle'],
  ['Webhook retries stop after the seventh attempt', 'how often is a webhook repeated'],
  ['Umlauts in file names break the zip upload', 'zip with special characters'],
];

interface Place {
  project: Project;
  /** The branch of an open pull request. */
  branch: string | null;
}

interface Week {
  server: Project;
  places: Place[];
  random: (below: number) => number;
  /** Texts that a command acknowledged: each must be in the ledger in the end. */
  acknowledged: string[];
  counts: Record<string, number>;
  clock: number;
  /** It comes and goes; null where no nats-server is installed. */
  nats: NatsServer | null;
}

const count = (week: Week, what: string): void => {
  week.counts[what] = (week.counts[what] ?? 0) + 1;
};

async function makeWeek(): Promise<Week> {
  const first = await makeForge();
  const folder = makeFolder();
  const server = projectAt(join(folder, 'server.git'));
  first.git('clone', '-q', '--bare', first.dir, server.dir);
  const places: Place[] = ['one', 'two'].flatMap((name) => {
    const clone = projectAt(join(folder, name));
    first.git('clone', '-q', server.dir, clone.dir);
    const tree = projectAt(join(folder, `${name}-tree`));
    clone.git('worktree', 'add', '-q', '--detach', tree.dir);
    return [clone, tree].map((project) => ({ project, branch: null }));
  });
  for (const { project } of places)
    expect((await runForge(project, ['trust', '--yes'], { terminal: true })).exitCode).toBe(0);
  const random = randomOf(2026);
  const nats = hasNats ? await startNats() : null;
  return { server, places, random, acknowledged: [], counts: {}, clock: Date.now(), nats };
}

/** Runs, and the clock goes on; at times it jumps. */
async function forge(
  week: Week,
  { project }: Place,
  args: string[],
  { stdin, terminal = false }: { stdin?: string; terminal?: boolean } = {},
): Promise<string> {
  week.clock += 60_000 * (1 + week.random(10));
  const jump = week.random(40) === 0 ? (week.random(2) ? 26 : -26) * HOURS : 0;
  const now = (): Date => new Date(week.clock + jump);
  const { exitCode, stdout, stderr } = await runForge(project, args, {
    terminal,
    env: week.nats?.env ?? {},
    world: { now },
    ...(stdin === undefined ? {} : { stdin }),
  });
  expect([exitCode, stderr], `forge ${args.join(' ')}: ${stderr}`).toEqual([0, expect.any(String)]);
  return stdout;
}

const remember = async (week: Week, place: Place, text: string): Promise<void> => {
  await forge(week, place, ['note', 'add', text]);
  week.acknowledged.push(text);
};

async function recordCycles(week: Week, place: Place, n: number): Promise<void> {
  const lines = Array.from({ length: CYCLES }, (_, i) => {
    const key = `cycle-${n}-${i}`;
    week.acknowledged.push(`"${key}"`);
    const pattern = `rule ${week.random(6)}`;
    const held = { pattern, scope: 'execution', holds: week.random(10) > 0 };
    return JSON.stringify({ task_id: `T-${n}`, exit_code: 0, idempotency_key: key, patterns: [held] });
  });
  await forge(week, place, ['memory', 'record', '-'], { stdin: lines.join('\n') });
}

/** Killed at any moment: what it acknowledged is there. */
async function beKilled(week: Week, { project }: Place, n: number): Promise<void> {
  const text = `killed while writing ${n}`;
  const child = startBinary(project.dir, ['note', 'add', text]);
  const timer = setTimeout(() => child.kill('SIGKILL'), 100 + week.random(400));
  const code = await new Promise<number | null>((done) => child.on('close', done));
  clearTimeout(timer);
  if (code === 0) week.acknowledged.push(text);
  count(week, 'kills');
}

/** No file can grow: what a full disk does, without a disk of its own. */
function fillDisk(week: Week, { project }: Place, n: number): void {
  const text = `on a full disk ${n}`;
  const script = `ulimit -f 0; trap '' XFSZ; exec "${process.execPath}" "${BIN}" note add "${text}"`;
  const { exitCode, stderr } = run(project.dir, 'bash', ['-c', script]);
  expect(exitCode, stderr).not.toBe(70);
  if (exitCode === 0) week.acknowledged.push(text);
  count(week, 'full disks');
}

/** Two processes at the same time. */
async function writeTogether(week: Week, { project }: Place, n: number): Promise<void> {
  const texts = ['left', 'right'].map((side) => `${side} at the same time ${n}`);
  const codes = await Promise.all(
    texts.map((text) => {
      const child = startBinary(project.dir, ['note', 'add', text]);
      return new Promise<number | null>((done) => child.on('close', done));
    }),
  );
  expect(codes).toEqual([0, 0]);
  week.acknowledged.push(...texts);
  count(week, 'writers at once');
}

async function session(week: Week, n: number): Promise<void> {
  if (n % 5 === 2) await week.nats?.kill();
  if (n % 5 === 4) await week.nats?.start();
  const place = week.places[week.random(week.places.length)] as Place;
  const { project } = place;
  if (place.branch === null) {
    place.branch = `work-${n}`;
    project.git('fetch', '-q', 'origin');
    project.git('switch', '-q', '--no-track', '-c', place.branch, 'origin/main');
  }
  await forge(week, place, ['start', '--task', `Task ${n}`]);
  await forge(week, place, ['log', `worked on part ${n}`]);
  await forge(week, place, ['kfr', 'patch', '--goal', `Finish ${n}`, '--add', 'OpenQuestion:Is it fast?']);
  const fact =
    n % Math.max(1, Math.floor(SESSIONS / FACTS.length)) === 0 ? FACTS[week.counts.facts ?? 0] : undefined;
  if (fact) {
    await remember(week, place, fact[0]);
    count(week, 'facts');
  }
  await recordCycles(week, place, n);
  if (week.random(6) === 0) await beKilled(week, place, n);
  if (week.random(12) === 0) fillDisk(week, place, n);
  if (week.random(8) === 0) await writeTogether(week, place, n);
  for (const part of week.random(2) ? ['a', 'b'] : ['a']) {
    project.write(`src/part-${n}-${part}.js`, `export const part = ${n};\n`);
    project.git('add', 'src');
    await forge(week, place, ['commit', '-m', `Add part ${n}${part}`, '--why', 'it was missing']);
    count(week, 'commits');
  }
  const { entries } = JSON.parse(await forge(week, place, ['kfr', 'list', '--json']));
  const open = entries.find(({ kind }: { kind: string }) => kind === 'OpenQuestion');
  await forge(week, place, ['kfr', 'patch', '--resolve', `${open.id}=Yes`]);
  if (week.random(25) === 0) await override(week, place, n);
  await forge(week, place, ['end', '--next', `go on with ${n}`, '--learned', `part ${n} needs care`]);
  count(week, 'sessions');
  count(week, 'commits');
  if (week.random(10) < 3) pullRequest(week, place);
}

/** A person decides. */
async function override(week: Week, place: Place, n: number): Promise<void> {
  const reason = `a person looked at ${n}`;
  await forge(week, place, ['memory', 'override', 'freeze', '--reason', reason, '--yes'], { terminal: true });
  await forge(week, place, ['memory', 'override', 'unfreeze', '--reason', `${reason} again`, '--yes'], {
    terminal: true,
  });
  week.acknowledged.push(reason);
  count(week, 'overrides');
}

const HOW = ['merge', 'squash', 'rebase'] as const;

/** As hosting services do it. A conflict fails the test. */
function pullRequest(week: Week, place: Place): void {
  const { server } = week;
  const { project, branch } = place;
  if (branch === null) return;
  const how = HOW[week.random(HOW.length)] ?? 'merge';
  if (how === 'rebase' || week.random(3) === 0) {
    project.git('fetch', '-q', 'origin');
    project.git('rebase', '-q', 'origin/main');
    count(week, 'rebases');
  }
  project.git('push', '-q', '--force', 'origin', branch);
  if (how === 'rebase') server.git('update-ref', 'refs/heads/main', branch);
  else {
    const merged = run(server.dir, 'git', ['merge-tree', '--write-tree', 'main', branch]);
    expect(merged, `${branch}: ${merged.stdout}`).toMatchObject({ exitCode: 0 });
    const parents = how === 'merge' ? ['-p', 'main', '-p', branch] : ['-p', 'main'];
    const commit = server.git('commit-tree', merged.stdout.trim(), ...parents, '-m', `Merge ${branch}`);
    server.git('update-ref', 'refs/heads/main', commit);
  }
  // A worktree may have the branch of the same name checked out nowhere else.
  project.git('switch', '-q', '--detach', 'HEAD');
  place.branch = null;
  count(week, `pull requests (${how})`);
}

/** Every session's end is on the server, once, whatever the server did meanwhile. */
async function expectReported(week: Week): Promise<void> {
  const { nats, places, counts } = week;
  if (!nats) return;
  if (SESSIONS % 5 === 2 || SESSIONS % 5 === 3) await nats.start();
  const env = nats.env;
  for (const { project } of places) await forgeJson(project, ['events', 'flush'], { env });
  const [{ project } = {}] = places;
  if (!project) return;
  const { events } = await forgeJson<Listed>(project, ['events', 'list', '--limit', '100000'], { env });
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  const ends = events.filter(({ type }) => type === 'session_end').map(({ session: id }) => id);
  expect([new Set(ends).size, ends.length]).toEqual([counts.sessions, counts.sessions]);
}

function bytesOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

it('LTM-01 LTM-17 SES-03 SES-07 AGT-03 EVT-01 B-63 after a week nothing acknowledged is missing, nothing conflicts, and all is found', async () => {
  const week = await makeWeek();
  for (let n = 1; n <= SESSIONS; n++) await session(week, n);
  for (const place of week.places) pullRequest(week, place);
  await expectReported(week);
  const fresh = projectAt(join(makeFolder(), 'fresh'));
  week.server.git('clone', '-q', week.server.dir, fresh.dir);
  for (const project of [fresh, ...week.places.map((place) => place.project)]) {
    project.git('fetch', '-q', 'origin');
    project.git('switch', '-q', '--detach', 'origin/main');
    expect((await forgeJson<{ status: string }>(project, ['memory', 'verify'])).status).toBe('intact');
  }
  const ledger = fresh.path('.forge/memory/ledger');
  const stored = readdirSync(ledger)
    .map((name) => fresh.read(`.forge/memory/ledger/${name}`))
    .join('\n');
  expect(week.acknowledged.filter((text) => !stored.includes(text))).toEqual([]);
  const marks = run(fresh.dir, 'git', ['grep', '-c', '-E', '^(<<<<<<<|>>>>>>>)', '--', '.forge']);
  expect(marks).toMatchObject({ exitCode: 1, stdout: '' });
  const briefing = await forgeJson<Briefing>(fresh, ['briefing']);
  expect(briefing.tokens).toBeLessThanOrEqual(2000);
  let found = 0;
  for (const [fact, question] of FACTS.slice(0, week.counts.facts ?? 0)) {
    const { hits } = await forgeJson<Recalled>(fresh, ['recall', question, '--limit', '3']);
    if (hits.some(({ text }) => text.includes(fact))) found++;
  }
  expect(found).toBe(week.counts.facts);
  const { tiers } = await forgeJson<{ tiers: { records: number }[] }>(fresh, ['memory', 'verify']);
  const records = tiers.reduce((sum, tier) => sum + tier.records, 0);
  week.server.git('gc', '-q');
  const sizes = { records, forge: bytesOf(fresh.path('.forge')), git: bytesOf(week.server.dir) };
  report(`week: ${JSON.stringify({ ...week.counts, ...sizes, briefing: briefing.tokens })}`);
  expect(sizes.forge / records).toBeLessThan(3000);
  expect(sizes.git).toBeLessThan(2 * sizes.forge + 2_000_000);
});
