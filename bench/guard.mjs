// node bench/guard.mjs: how the guard grows with a text, what it finds, and where it is wrong. Growth: the time for twice the text over
// the time for the text.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { loadGuard, repeat, times } from './guard-figures.mjs';
import { installedFiles } from './guard-texts.mjs';
import { median } from './measure.mjs';

const SIZE = 80_000;

/** What could make a pattern or a view go over the same text again and again. */
const adversarial = (keywords) => ({
  'ey.': repeat('ey.'),
  '-eyJ and letters': repeat('-eyJaaaa'),
  'eyJ parts': repeat('eyJhbGciOi.eyJzdWIiOi.'),
  letters: repeat('a'),
  digits: repeat('7'),
  hex: repeat('0123456789abcdef'),
  spaces: repeat(' '),
  newlines: repeat('\n'),
  quotes: repeat('"'),
  'quotes with blanks': repeat(`"${' '.repeat(70)}`),
  backslashes: repeat('\\'),
  percent: repeat('%41'),
  'zero width': repeat('\u200b'),
  'full width': repeat('\uff21'),
  colons: repeat('://a:b'),
  'password=': repeat('password='),
  'password and blanks': repeat(`password${' '.repeat(20)}`),
  'PEM headers': repeat(['-----BEGIN ', 'PRIVATE KEY-----'].join('')),
  'a PEM header and dashes': (size) => ['-----BEGIN ', 'PRIVATE KEY-----'].join('') + '-'.repeat(size),
  'PuTTY headers': repeat('PuTTY-User-Key-File-3: '),
  ghp_: repeat('ghp_'),
  'prefixes with bodies': repeat('ghp_aZ3 glpat-Zz9 sk-proj-a1B2c3D4 '),
  'base64 lines': repeat(`${'QUJD'.repeat(19)}\n`),
  'netrc words': repeat('machine a login b '),
  keywords: repeat(`${keywords.join(' ')} `),
  'keywords without blanks': repeat(keywords.join('')),
  'NUL bytes': repeat('\0'),
  'direction marks': repeat('\u202e'),
  'a@': repeat('a@'),
  'a@b.c': repeat('joe@acme.co '),
  '1.1.': repeat('1.1.'),
  '9.9.9.': repeat('94.5.6.7 '),
  '::': repeat(':'),
  '+1 ': repeat('+1 2'),
  'card groups': repeat('4111 '),
  DE00: repeat('DE89 3704 '),
  Copyright: repeat('Copyright (c) 2024 A '),
  'lines of code': repeat('const a = f(b);\n'),
});

/** Samples that the tests make, each in the contexts that people and agents write. */
async function printRecall(folder, found) {
  const outfile = join(folder, 'samples.mjs');
  const inner = fileURLToPath(new URL('../test/support/', import.meta.url));
  const contents = `export * from '${inner}personal.js'; export * from '${inner}national-id.js';
    export { samples, seeded } from '${inner}secrets.js';`;
  const stdin = { contents, resolveDir: inner, loader: 'ts' };
  await build({ stdin, bundle: true, platform: 'node', format: 'esm', outfile, logLevel: 'warning' });
  const kit = await import(pathToFileURL(outfile).href);
  const [secret, r] = [kit.seeded(11), kit.random(11)];
  const many = (make, count = 100) => Array.from({ length: count }, make);
  const classes = {
    secret: [...kit.samples.values()].flatMap((makers) =>
      makers.flatMap((make) => many(() => make(secret), 5)),
    ),
    card: Object.values(kit.CARDS).flatMap((make) =>
      ['', ' ', '-'].flatMap((joint) =>
        many(() => `${joint === '' ? 'card ' : ''}${kit.groupCard(make(r), joint)}`, 20),
      ),
    ),
    iban: many(() => kit.iban(r, 'DE', 22)).concat(many(() => kit.iban(r, 'GB', 22))),
    'national-id': Object.values(kit.NATIONAL).flatMap(({ make, word }) =>
      many(() => (word ? `${word} ${make(r)}` : make(r)), 20),
    ),
    email: many(() => kit.email(r)),
    phone: Object.values(kit.PHONES).flatMap((make) => many(() => make(r), 20)),
    ip: many(() => kit.ipv4(r)).concat(many(() => kit.ipv6(r))),
  };
  console.log(`\n${'recall'.padEnd(14)}   samples  found`);
  for (const [name, list] of Object.entries(classes)) {
    const texts = list.flatMap((sample) => kit.CONTEXTS.map((context) => context(sample)));
    const hits = texts.filter((text) => found(text).some((hit) => hit.class === name)).length;
    console.log(
      `${name.padEnd(14)} ${String(texts.length).padStart(9)}  ${((100 * hits) / texts.length).toFixed(1).padStart(5)} %`,
    );
  }
}

const TEXT = /\.(md|txt|js|mjs|cjs|ts|mts|cts|json|ya?ml|toml|sh|lock|css|html)$/;

/** Documents, sources and commit messages at hand: what the guard finds there is mostly wrong. */
function printFalseAlarms(found) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 }).stdout;
  const read = (names) =>
    names.filter((name) => TEXT.test(name)).map((name) => readFileSync(join(root, name), 'utf8'));
  const corpora = {
    'commit messages': git('log', '--format=%B%x00')
      .split('\0')
      .filter((text) => text.trim() !== ''),
    'own tree': read(git('ls-files').split('\n')),
    node_modules: read(
      installedFiles().map((entry) => relative(root, join(entry.parentPath, entry.name))),
    ).filter((text) => text.length < 2_000_000),
  };
  const classes = [
    'secret',
    'card',
    'iban',
    'national-id',
    'email',
    'phone',
    'ip',
    'proprietary',
    'invisible',
  ];
  console.log(`\n${'texts with a hit, %'.padEnd(22)}texts  ${classes.join('  ')}`);
  for (const [name, texts] of Object.entries(corpora)) {
    const counts = new Map(classes.map((key) => [key, 0]));
    for (const text of texts)
      for (const key of new Set(found(text).map((hit) => hit.class))) counts.set(key, counts.get(key) + 1);
    const cells = classes.map((key) =>
      ((100 * counts.get(key)) / texts.length).toFixed(2).padStart(key.length),
    );
    console.log(`${name.padEnd(20)} ${String(texts.length).padStart(6)}  ${cells.join('  ')}`);
  }
}

const folder = mkdtempSync(join(tmpdir(), 'forge-guard-'));
try {
  const { keywords, find } = await loadGuard(folder);
  console.log(`\n${'adversarial'.padEnd(26)}${SIZE / 1000}k, ms  ${(2 * SIZE) / 1000}k, ms  growth`);
  for (const [name, make] of Object.entries(adversarial(keywords))) {
    const [once, twice] = [SIZE, 2 * SIZE].map((size) => {
      const text = make(size);
      return median(times(() => find(text), 3));
    });
    const cells = [
      once.toFixed(1).padStart(7),
      twice.toFixed(1).padStart(9),
      (twice / once).toFixed(2).padStart(8),
    ];
    console.log(name.padEnd(26) + cells.join(' '));
  }
  await printRecall(folder, find);
  printFalseAlarms((text) => find(text, ''));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
