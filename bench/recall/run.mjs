/**
 * Retrieval on two collections with relevance judgements of our own: `npm run bench:recall`. Prints recall@5, recall@10, MRR
 * and nDCG@10 of each way, beside plain BM25 with stems and beside grep. Nothing was tuned on them: k1 and b are those of the
 * textbooks, and the other weights were set before the collections were written. `-- --locomo FOLDER` does the same with the
 * unpacked files of a public collection, and `-- --git FOLDER` with the history of a repository.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const outfile = join(mkdtempSync(join(tmpdir(), 'forge-recall-')), 'recall.cjs');
const contents =
  "export { MemoryCorpus, search } from './engine.js'; export { readQuery, termsOf } from './terms.js';";
await build({
  stdin: { contents, resolveDir: join(here, '../../src/recall'), loader: 'ts' },
  ...{ bundle: true, platform: 'node', format: 'cjs', outfile },
});
const { MemoryCorpus, search, readQuery, termsOf } = createRequire(import.meta.url)(outfile);

const read = (name) => JSON.parse(readFileSync(join(here, `${name}.json`), 'utf8'));

function load(name) {
  const { documents, sessions, questions } = read(name);
  const all = documents
    ? documents.map((text, i) => ({ id: String(i), session: null, text }))
    : sessions.flatMap((lines, s) => lines.map((text, i) => ({ id: `${s},${i}`, session: `s${s}`, text })));
  const docs = all.map((one) => ({ source: 'session', at: null, ...one }));
  const groups = documents
    ? [{ isLoose: true, documents: docs }]
    : sessions.map((_, s) => ({
        isLoose: false,
        documents: docs.filter(({ session }) => session === `s${s}`),
      }));
  return {
    docs,
    corpus: new MemoryCorpus(groups),
    questions: questions.map(([text, ids]) => ({ text, ids: new Set(ids.map(String)) })),
  };
}

/** Lines with most of the question's words as they stand. */
const grep = ({ docs }, text) => {
  const words = text.toLowerCase().match(/\p{L}{3,}/gu) ?? [];
  const scored = docs.map(({ id, text: line }) => ({
    id,
    n: words.filter((word) => line.toLowerCase().includes(word)).length,
  }));
  return scored
    .filter(({ n }) => n > 0)
    .sort((a, b) => b.n - a.n)
    .map(({ id }) => id);
};
const by =
  (options) =>
  ({ corpus }, text) =>
    search([corpus], readQuery(text), { limit: 50, now: 0, ...options }).map(({ document }) => document.id);

const PLAIN = { related: false, synonyms: false, context: false };
const WAYS = {
  grep,
  'BM25 with stems': by(PLAIN),
  '+ synonyms': by({ ...PLAIN, synonyms: true }),
  '+ related': by({ ...PLAIN, related: true }),
  '+ context': by({ ...PLAIN, context: true }),
  'forge recall': by({}),
};

/** Recall@5, recall@10, reciprocal rank, nDCG@10, and whether one of the first five sessions is right, for one question. */
function figuresOf({ docs }, found, ids) {
  const sessions = new Map(docs.map(({ id, session }) => [id, session ?? id]));
  const right = new Set([...ids].map((id) => sessions.get(id)));
  const firstSessions = [...new Set(found.map((id) => sessions.get(id)))].slice(0, 5);
  const hits = found.slice(0, 10).map((id) => ids.has(id));
  const at = (n) => hits.slice(0, n).filter(Boolean).length / Math.min(ids.size, n);
  const first = hits.indexOf(true);
  const gain = (list) => list.reduce((sum, hit, i) => sum + (hit ? 1 / Math.log2(i + 2) : 0), 0);
  const ideal = gain(Array.from({ length: Math.min(ids.size, 10) }, () => true));
  return [
    at(5),
    at(10),
    first < 0 ? 0 : 1 / (first + 1),
    gain(hits) / ideal,
    firstSessions.some((session) => right.has(session)) ? 1 : 0,
  ];
}

function print(name, collections) {
  const asked = collections.flatMap((collection) =>
    collection.questions.map((question) => ({ collection, ...question })),
  );
  const shared = asked.map(({ collection: { docs }, text, ids }) => {
    const said = new Set(docs.filter(({ id }) => ids.has(id)).flatMap(({ text: line }) => termsOf(line)));
    return [...new Set(termsOf(text))].filter((term) => said.has(term)).length;
  });
  const records = collections.reduce((sum, { docs }) => sum + docs.length, 0);
  const words = (shared.reduce((a, b) => a + b, 0) / shared.length).toFixed(1);
  console.log(
    `\n${name}: ${records} records, ${asked.length} questions, ${words} words shared with the answer on average`,
  );
  console.log('way               recall@5  recall@10  MRR    nDCG@10  session hit@5');
  for (const [way, find] of Object.entries(WAYS)) {
    const figures = asked.map(({ collection, text, ids }) =>
      figuresOf(collection, find(collection, text), ids),
    );
    const [five, ten, mrr, ndcg, session] = [0, 1, 2, 3, 4].map((i) =>
      (figures.reduce((sum, row) => sum + row[i], 0) / figures.length).toFixed(2),
    );
    console.log(
      `${way.padEnd(18)}${five.padEnd(10)}${ten.padEnd(11)}${mrr.padEnd(7)}${ndcg.padEnd(9)}${session}`,
    );
  }
}

/** `1:56 pm on 8 May, 2023` */
const readTime = (text) => new Date(`${text.split(' on ')[1]} 12:00 UTC`).toISOString();

/** A conversation of the public collection LoCoMo (snap-research/locomo, data/locomo10.zip), which is not part of forge. */
function loadLocomo(path) {
  const file = JSON.parse(readFileSync(path, 'utf8'));
  const numbers = Object.keys(file).flatMap((key) => /^session_(\d+)$/.exec(key)?.[1] ?? []);
  const groups = numbers.map((number) => ({
    isLoose: false,
    documents: file[`session_${number}`].map(({ dia_id: id, speaker, text, blip_caption: picture = '' }) => ({
      ...{ id, session: number, source: 'session', at: readTime(file[`session_${number}_date_time`]) },
      text: `${speaker}: ${text} ${picture}`,
    })),
  }));
  // Category 5 has questions without an answer.
  const questions = file.qa.flatMap(({ question, evidence = [], category }) => {
    // One answer is written D30:05 instead of D30:5.
    const ids = new Set(
      evidence.flatMap((line) => line.match(/D\d+:\d+/g) ?? []).map((id) => id.replace(':0', ':')),
    );
    return category === 5 || ids.size === 0 ? [] : [{ text: String(question), ids }];
  });
  return { docs: groups.flatMap(({ documents }) => documents), corpus: new MemoryCorpus(groups), questions };
}

/** Merged branches, source files and questions about each. */
const [MAX_BRANCHES, MAX_ASKED] = [400, 600];
const SOURCE = /\.(c|h|cc|cpp|go|java|js|mjs|ts|tsx|pl|perl|py|rb|rs|sh|php|cs|swift|kt)$/;

/**
 * Two collections from the history of a repository, such as git/git. Nobody judged the answers: the first sentence of a
 * merge's description asks for the commits of its branch, and the subject of a commit for the files that it changed.
 */
function loadHistory(folder) {
  const git = (...args) =>
    execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8', maxBuffer: 2 ** 30 });
  const log = (format, ...args) =>
    git('log', `--format=%x01${format}`, ...args)
      .split('\x01')
      .slice(1)
      .map((entry) => entry.trim().split('\0'));
  return [loadBranches(log), loadChanges(git, log)];
}

function loadBranches(log) {
  const merges = log('%H%x00%B', '--first-parent', '--merges', `-${3 * MAX_BRANCHES}`).flatMap(
    ([hash, text]) => {
      const [, description] = /^Merge branch .*\n\n([^*][\s\S]*?)\n\n\* /.exec(text) ?? [];
      return description ? [{ hash, text: description.replace(/\s+/g, ' ').split(/(?<=\.)\s/)[0] }] : [];
    },
  );
  const groups = merges.slice(0, MAX_BRANCHES).map(({ hash }) => ({
    isLoose: false,
    documents: log('%h%x00%cI%x00%B', '--reverse', '--no-merges', `${hash}^1..${hash}^2`).map(
      ([id, at, text]) => ({
        ...{ id: `${hash} ${id}`, session: hash, source: 'session', at: new Date(at).toISOString() },
        text: text.replace(/^[A-Z][\w-]+-by: .*\n?/gm, '').slice(0, 4000),
      }),
    ),
  }));
  const questions = merges.flatMap(({ text }, i) => {
    const ids = new Set(groups[i]?.documents.map(({ id }) => id));
    return ids.size === 0 ? [] : [{ text, ids }];
  });
  return { docs: groups.flatMap(({ documents }) => documents), corpus: new MemoryCorpus(groups), questions };
}

function loadChanges(git, log) {
  const paths = git('ls-tree', '-r', '--name-only', 'HEAD')
    .split('\n')
    .filter((path) => SOURCE.test(path));
  const docs = paths.map((id) => ({
    ...{ id, session: null, source: 'session', at: null },
    text: `${id}\n${git('show', `HEAD:${id}`).replace(/^#include.*\n/gm, '')}`.slice(0, 4000),
  }));
  const known = new Set(paths);
  const questions = log('%s%x00', '--no-merges', '--name-only', '-4000').flatMap(([text, names = '']) => {
    const changed = names.trim().split('\n');
    const ids = new Set(changed.filter((name) => known.has(name)));
    return ids.size === 0 || changed.length > 4 ? [] : [{ text, ids }];
  });
  const corpus = new MemoryCorpus([{ isLoose: true, documents: docs }]);
  return { docs, corpus, questions: questions.slice(0, MAX_ASKED) };
}

const folderOf = (option) => {
  const at = process.argv.indexOf(option);
  return at > 0 ? process.argv[at + 1] : undefined;
};
const [locomo, history] = [folderOf('--locomo'), folderOf('--git')];
if (locomo !== undefined) {
  const files = readdirSync(locomo).filter((file) => file.endsWith('.json'));
  print(
    'LoCoMo',
    files.map((file) => loadLocomo(join(locomo, file))),
  );
} else if (history !== undefined) {
  const [branches, changes] = loadHistory(history);
  print('merge description -> commits of the branch', [branches]);
  print('commit subject -> changed files', [changes]);
} else for (const name of ['engineering', 'conversations']) print(name, [load(name)]);
