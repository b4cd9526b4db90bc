/**
 * `npm run bench:recall -- --scale [RECORDS]`: building the search index over so many notes (500,000), queries with a rare word
 * and with one that every twentieth note has, and a query after one more note. Whole processes, beside an empty Node.
 */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMPTY_NODE, median, run, wallMs } from '../measure.mjs';
import { ledgerFolder, planFiles } from '../records.mjs';
import { forge, makeEnvironment, makeSmall } from '../repositories.mjs';

const ROUNDS = 7;
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

const index = ({ cwd }) => join(cwd, '.forge', 'local', 'recall.db');

export async function scale(count) {
  const scratch = mkdtempSync(join(tmpdir(), 'forge-recall-'));
  try {
    const place = makeSmall(scratch, makeEnvironment(scratch, true));
    const { files } = await planFiles(scratch, place, makeNotes(count), 250);
    for (const { name, bytes } of files) writeFileSync(join(ledgerFolder(place), name), bytes);
    const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
    const rare = forge('recall', 'zebrafish', '--json');
    const often = forge('recall', 'kestrel', '--json');
    const built = wallMs(rare, place);
    const times = (argv) => median(Array.from({ length: ROUNDS }, () => wallMs(argv, place)));
    const [empty, rareMs, oftenMs] = [times(EMPTY_NODE), times(rare), times(often)];
    let note = 0;
    const after = Array.from({ length: ROUNDS }, () => {
      run(forge('note', 'add', `one more note ${note++}`), place);
      return wallMs(rare, place);
    });
    console.log(
      `\n${count} notes, ${(bytes / 1e6).toFixed(0)} MB; index ${(statSync(index(place)).size / 1e6).toFixed(0)} MB`,
    );
    console.log(`an empty Node                 ${empty.toFixed(0)} ms`);
    console.log(
      `first query, builds the index ${built.toFixed(0)} ms, ${Math.round(count / ((built - rareMs) / 1000))} records/s`,
    );
    console.log(`a rare word                   ${rareMs.toFixed(0)} ms`);
    console.log(`a word in every 20th note     ${oftenMs.toFixed(0)} ms`);
    console.log(`the rare one after a new note ${median(after).toFixed(0)} ms`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
