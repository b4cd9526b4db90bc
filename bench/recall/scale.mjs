// Figures of `forge recall`: building the search index over so many notes, queries with a rare word and with one that every
// twentieth note has, and a query after one more note. Whole processes.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canMeasureMemory, EMPTY_NODE, peakKib, run, summary, wallMs, wallTimes } from '../measure.mjs';
import { ledgerFolder, planFiles } from '../records.mjs';
import { forge, makeSmall } from '../repositories.mjs';

const WORDS = 30_000;
const SYLLABLES = 'ka lo mi ter ran sol ve du pri net gor bal fin tu wes'.split(' ');

/** Always the same words, the first ones far more often than the last. */
function makeNotes(count) {
  let seed = 7;
  const random = () => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return seed / 2 ** 31;
  };
  const pick = (from) => from[Math.floor(random() * from.length)];
  const words = Array.from({ length: WORDS }, () =>
    Array.from({ length: 2 + Math.floor(random() * 3) }, () => pick(SYLLABLES)).join(''),
  );
  return Array.from({ length: count }, (_, i) => {
    const text = Array.from({ length: 18 }, () => words[Math.floor(WORDS * random() ** 3)]);
    if (i % 20 === 0) text.push('kestrel');
    if (i % 50_000 === 7) text.push('zebrafish');
    return { tier: 'note', kind: 'note', text: text.join(' ') };
  });
}

const RARE = forge('recall', 'zebrafish', '--json');
const OFTEN = forge('recall', 'kestrel', '--json');

async function makePlace(scratch, env, count) {
  const folder = join(scratch, `recall-${count}`);
  mkdirSync(folder);
  const place = makeSmall(folder, env);
  const { files } = await planFiles(scratch, place, makeNotes(count), 250);
  for (const { name, bytes } of files) writeFileSync(join(ledgerFolder(place), name), bytes);
  return place;
}

const forgetIndex = ({ cwd }) => rmSync(join(cwd, '.forge', 'local', 'recall.db'), { force: true });

/** Records a second, the time of a query over the finished index taken off. */
function buildRates(place, count) {
  const rates = [0, 1, 2].map(() => {
    forgetIndex(place);
    const built = wallMs(RARE, place);
    return count / ((built - wallMs(RARE, place)) / 1000);
  });
  return summary(rates);
}

/** MiB at most while the index is built, beyond an empty Node. */
function buildMemory(place) {
  if (!canMeasureMemory()) return { skipped: 'GNU time is not installed' };
  forgetIndex(place);
  return summary([(peakKib(RARE, place) - peakKib(EMPTY_NODE, place)) / 1024]);
}

/** The extra time of a query after one more note. */
function afterOneMore(place) {
  let notes = 0;
  const add = () => run(forge('note', 'add', `one more note ${notes++}`), place);
  const [known] = wallTimes([RARE], place);
  const [after] = wallTimes([RARE], place, add);
  const more = (a, b) => a - b;
  return {
    median: more(after.median, known.median),
    min: more(after.min, known.max),
    max: more(after.max, known.min),
    ms: after.median,
  };
}

const measure =
  (count, limitOfOften) =>
  async ({ name }, { env }, scratch) => {
    const place = await makePlace(scratch, env, count);
    const rate = {
      name: `${name}: first build`,
      unit: 'records/s',
      least: 60_000,
      ...buildRates(place, count),
    };
    const memory = {
      name: `${name}: its peak memory`,
      unit: 'MiB over Node',
      limit: 60,
      ...buildMemory(place),
    };
    const [rare, often] = wallTimes([RARE, OFTEN], place);
    return [
      { name: `${name}: a rare word`, limit: 150, ...rare },
      { name: `${name}: a word in every 20th`, limit: limitOfOften, ...often },
      ...(count >= 500_000 ? [rate, memory] : []),
      { name: `${name}: one more note`, limit: 5, ...afterOneMore(place) },
    ];
  };

export const RECALL = [
  { name: 'recall, 50,000 notes', where: 'none', unit: 'ms', measure: measure(50_000, 150) },
  { name: 'recall, 500,000 notes', where: 'none', unit: 'ms', measure: measure(500_000, 500) },
];
