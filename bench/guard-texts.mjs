// The guard on ordinary texts: how long it takes, and what it mistakes for a credential. The texts are what is installed here
// and the commit messages of the repositories in the folders that FORGE_TEXTS_FROM names, `:` between them; none is stored.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadGuard, times } from './guard-figures.mjs';
import { ownSamples } from './guard-goals.mjs';
import { median, run, summary } from './measure.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FORGE = join(ROOT, 'bin/forge.js');
const PROSE = /\.(?:md|txt)$/i;
const CODE = /\.[cm]?[jt]s$/;
const MAX_TEXT = 500_000;

/** The files of the installed packages. Node 22 follows links to folders, and caches may have links that form loops. */
export function installedFiles() {
  const modules = join(ROOT, 'node_modules');
  return readdirSync(modules, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .flatMap(({ name }) => readdirSync(join(modules, name), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile());
}

let files;
/** The texts in node_modules whose names fit, each once. */
function installed(pattern) {
  files ??= installedFiles();
  const texts = files
    .filter(({ name }) => pattern.test(name))
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
  return [...new Set(texts)].filter(({ length }) => length > 0 && length <= MAX_TEXT);
}

const kilobytes = (texts) => texts.reduce((sum, { length }) => sum + length, 0) / 1024;

let guard;
const guardIn = async (scratch) => {
  guard ??= await loadGuard(scratch);
  return guard;
};

/** Milliseconds of CPU per kilobyte, of five parts of the texts. Texts that were looked at already are not looked at again. */
const perKilobyte = (pattern) => async (_figure, _place, scratch) => {
  const { find } = await guardIn(scratch);
  const texts = installed(pattern).slice(0, 1500);
  for (const text of texts.slice(0, 60)) find(`${text} `, '');
  const parts = Array.from({ length: 5 }, (_, part) => texts.filter((_, i) => i % 5 === part));
  const rates = parts.map((part) => {
    const before = process.cpuUsage();
    for (const text of part) find(text, '');
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000 / kilobytes(part);
  });
  return summary(rates);
};

/** Paragraphs as people and agents note them. */
const note = async (_figure, _place, scratch) => {
  const { find } = await guardIn(scratch);
  const notes = installed(PROSE)
    .flatMap((text) => text.split('\n\n'))
    .filter(({ length }) => length > 80 && length < 800)
    .slice(0, 4000);
  const all = notes.map((text) => times(() => find(text), 1)[0]);
  return { ...summary(all), ms: median(all) };
};

const STAGED_KB = 50 * 1024;

/** Seconds of CPU of `guard scan --staged`, git's own included. */
const staged = async (_figure, { env }, scratch) => {
  const dir = join(scratch, 'staged');
  mkdirSync(dir);
  run(['git', 'init', '-q'], { cwd: dir, env });
  const texts = [...installed(PROSE), ...installed(CODE)];
  let left = STAGED_KB;
  // Begun anew, each text differs: what was looked at once is not looked at again.
  for (let i = 0; left > 0; i++) {
    const text = `${texts[i % texts.length]}\n${i}\n`;
    writeFileSync(join(dir, `${i}.txt`), text);
    left -= Buffer.byteLength(text) / 1024;
  }
  run(['git', 'add', '-A'], { cwd: dir, env });
  const script = '"$@" >/dev/null 2>&1; times';
  const argv = ['sh', '-c', script, 'sh', process.execPath, FORGE, 'guard', 'scan', '--staged', '--quiet'];
  const [user, system] = run(argv, { cwd: dir, env }).trim().split('\n')[1].split(' ').map(secondsOf);
  const seconds = user + system;
  return { median: seconds, min: seconds, max: seconds };
};

/** `1m2.50s` of sh. */
function secondsOf(text) {
  const [, minutes, seconds] = /^(\d+)m([\d.]+)s$/.exec(text);
  return Number(minutes) * 60 + Number(seconds);
}

/** The messages of every repository at or right below a folder. */
function messagesIn(folder) {
  const inner = readdirSync(folder, { withFileTypes: true }).filter((entry) => !entry.isFile());
  return [folder, ...inner.flatMap(({ name }) => [join(folder, name), join(folder, name, 'repo')])].flatMap(
    (dir) => {
      const args = ['--git-dir', dir, 'log', '--all', '--format=%B%x00'];
      const { status, stdout } = spawnSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 30 });
      return status === 0 ? stdout.split('\0').map((text) => text.trim()) : [];
    },
  );
}

/** True keys that stand in such texts, by the first 16 digits of their SHA-256. Each was looked at by a person. */
const TRUE_KEYS = new Set([
  '686ee778219ec31d', // GitLab's routable tokens, in a commit message of gitleaks
  'e0b17ef62b30d3ae',
  '1b5cab61a75de7e7', // A live key of Stripe, in a commit message of TruffleHog
]);

const ordinary = async (_figure, _place, scratch) => {
  const { find } = await guardIn(scratch);
  const folders = [join(ROOT, '.git'), ...(process.env.FORGE_TEXTS_FROM ?? '').split(':').filter(Boolean)];
  const messages = folders.flatMap(messagesIn).filter((text) => text !== '');
  const texts = [...new Set([...messages, ...installed(PROSE), ...installed(CODE), ...installed(/\.json$/)])];
  const wrong = texts.flatMap((text) =>
    find(text, '')
      .filter(({ class: name, isCertain }) => name === 'secret' && isCertain)
      .map(({ rule, value }) => ({ rule, text, digest: digestOf(value) }))
      .filter(({ digest }) => !TRUE_KEYS.has(digest)),
  );
  for (const { rule, digest, text } of wrong)
    if (process.env.FORGE_SHOW_MISSES) console.error(rule, digest, JSON.stringify(text.slice(0, 200)));
  const count = new Set(wrong.map(({ text }) => text)).size;
  const name = `guard: ordinary texts with a certain credential (of ${texts.length})`;
  return { name, median: count, min: count, max: count };
};

const digestOf = (value) => createHash('sha256').update(value).digest('hex').slice(0, 16);

const lookAlikes = async (_figure, _place, scratch) => {
  const [{ find }, kit] = [await guardIn(scratch), await ownSamples(scratch)];
  const texts = [1, 2, 3].flatMap((seed) => kit.lookAlikes(kit.seeded(seed)));
  const hits = texts.filter((text) => find(text, '').some(({ class: name }) => name === 'secret'));
  return rate(`guard: look-alikes refused (${texts.length})`, hits.length / texts.length);
};

const evasions = async (_figure, _place, scratch) => {
  const [{ find }, kit] = [await guardIn(scratch), await ownSamples(scratch)];
  const random = kit.seeded(5);
  const disguises = Object.values(kit.DISGUISES);
  const found = disguises.filter((disguise) => {
    const [text] = disguise(`ghp_${kit.crcBody(random)}`);
    return find(text, '').some(({ class: name }) => name === 'secret');
  });
  return rate(
    `guard: ways to disguise a token that are seen through (${disguises.length})`,
    found.length / disguises.length,
  );
};

const rate = (name, part) => ({ name, median: 100 * part, min: 100 * part, max: 100 * part });

export const GUARD_TEXTS = [
  { name: 'guard: prose, per KB', unit: 'ms of CPU', limit: 0.5, measure: perKilobyte(PROSE) },
  { name: 'guard: code, per KB', unit: 'ms of CPU', limit: 0.5, measure: perKilobyte(CODE) },
  { name: 'guard: a note', unit: 'ms', limit: 0.3, measure: note },
  { name: 'guard: 50 MB staged', unit: 's of CPU', limit: 15, measure: staged },
  { name: 'guard: ordinary texts with a certain credential', unit: '', limit: 0, measure: ordinary },
  { name: 'guard: look-alikes refused', unit: '%', limit: 8, measure: lookAlikes },
  { name: 'guard: ways to disguise a token that are seen through', unit: '%', least: 100, measure: evasions },
].map((row) => ({ ...row, where: 'none' }));
