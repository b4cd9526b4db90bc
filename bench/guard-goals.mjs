// How much of what others publish the guard finds. The samples are fetched for the run and never stored: FORGE_SAMPLES_FROM
// names another place than GitHub.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { loadGuard } from './guard-figures.mjs';

const FROM = process.env.FORGE_SAMPLES_FROM ?? 'https://github.com';

/** The files of a folder of a repository, or null where it cannot be fetched. */
function fetchFolder(scratch, name, folder) {
  const place = join(scratch, name.replace('/', '-'));
  mkdirSync(place, { recursive: true });
  const git = (...args) => spawnSync('git', args, { cwd: place, encoding: 'utf8', timeout: 300_000 });
  const env = ['-c', 'core.hooksPath=/dev/null', '-c', 'protocol.allow=user'];
  git('init', '-q');
  const fetched = git(...env, 'fetch', '-q', '--depth=1', `${FROM}/${name}`, 'HEAD');
  if (fetched.status !== 0) return null;
  git('read-tree', 'FETCH_HEAD');
  const files = git('ls-files', folder).stdout.split('\n').filter(Boolean);
  spawnSync('git', ['checkout-index', '-q', '-f', '--prefix=out/', '--stdin'], {
    cwd: place,
    input: files.join('\n'),
  });
  return files.map((file) => [file, readFileSync(join(place, 'out', file), 'utf8')]);
}

/** mulberry32: the same samples in every run. */
let seed = 7;
function random() {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const draw = (alphabet, length) =>
  Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join('');

const HEX = '0123456789abcdef';
const ALNUM = `${HEX.slice(0, 10)}abcdefghijklmnopqrstuvwxyz`;
const ALPHABETS = {
  Numeric: HEX.slice(0, 10),
  Hex: HEX,
  AlphaNumeric: ALNUM,
  AlphaNumericExtended: `${ALNUM}=_-`,
  AlphaNumericExtendedShort: `${ALNUM}_-`,
  AlphaNumericExtendedLong: `${ALNUM}/=_+-`,
};

/** A Go expression of strings and of secrets that gitleaks draws; null for any other. */
function evaluate(expression) {
  const PART =
    /\s*\+?\s*(?:"((?:[^"\\]|\\.)*)"|`([^`]*)`|secrets\.NewSecret\(utils\.(\w+)\((?:"(\d+)(?:,\d*)?")?\)\))/y;
  let text = '';
  for (PART.lastIndex = 0; PART.lastIndex < expression.length; ) {
    const match = PART.exec(expression);
    if (!match) return expression.slice(text.length).trim() === '' ? text : null;
    const [, quoted, raw, kind, length] = match;
    if (quoted !== undefined) text += quoted.replace(/\\(["\\])/g, '$1').replaceAll('\\n', '\n');
    else if (raw !== undefined) text += raw;
    else if (kind === 'Hex8_4_4_4_12') text += [8, 4, 4, 4, 12].map((count) => draw(HEX, count)).join('-');
    else if (ALPHABETS[kind]) text += draw(ALPHABETS[kind], Number(length));
    else return null;
  }
  return text;
}

/** gitleaks' own templates, as many as tell one from another. */
const FORMS = [
  (name, text) => `${name}Token="${text}"`,
  (name, text) => `${name}Token = ${text}`,
  (name, text) => `{\n    "${name}_token": "${text}"\n}`,
  (name, text) => `${name}_token: '${text}'`,
  (name, text) => `var ${name}Token string = "${text}"`,
  (name, text) => `System.setProperty("${name.toUpperCase()}_TOKEN", "${text}")`,
  (name, text) => `$${name}Token .= "${text}"`,
  (name, text) => `${name}_TOKEN ::= "${text}"`,
  (name, text) => `<${name}Token>\n    ${text}\n</${name}Token>`,
];

/** Placeholders, and what only names an account, are left out. */
const isSample = (text) => text.length >= 12 && !/example|x{4}|placeholder|your|<[a-z]/i.test(text);

function gitleaksSamples(scratch) {
  const files = fetchFolder(scratch, 'gitleaks/gitleaks', 'cmd/generate/config/rules');
  return files?.flatMap(([, text]) => {
    const code = text.replace(/fps\s*:?=[\s\S]*?(?=\n\t(?:return|tps|\/\/ validate)|$)/g, '');
    const drawn = [
      ...code.matchAll(
        /GenerateSampleSecrets?\("([\w.-]+)",\s*((?:[^()]|\([^()]*(?:\([^()]*\)[^()]*)*\))+)\)/g,
      ),
    ];
    const made = drawn.flatMap(([, name, expression]) => {
      const secret = evaluate(expression);
      return secret && !/(?:client|account|app|user)[-_]?id$/i.test(name)
        ? FORMS.map((form) => form(name.replace(/[^A-Za-z0-9]/g, '_'), secret))
        : [];
    });
    const listed = [...code.matchAll(/tps\s*:?=\s*(?:append\(tps,|\[\]string\{)([\s\S]*?)\n\t[})]/g)];
    const literal = listed.flatMap(([, list]) =>
      list
        .split('\n')
        .map((line) => /^\s*(.+?),\s*(?:\/\/.*)?$/.exec(line)?.[1])
        .map((expression) => (expression && /^["`]/.test(expression) ? evaluate(expression) : null))
        .filter(Boolean),
    );
    return [...made, ...literal].filter(isSample);
  });
}

function truffleHogSamples(scratch) {
  const files = fetchFolder(scratch, 'trufflesecurity/trufflehog', 'pkg/detectors');
  return files
    ?.filter(([file]) => file.endsWith('_test.go') && !file.endsWith('_integration_test.go'))
    .flatMap(([file, text]) => {
      const vendor = file.split('/')[2];
      const values = [...text.matchAll(/\bvalid(\w*)\s*=\s*(?:"([^"\n]+)"|`([^`]+)`)/g)]
        .filter(([, name]) => !/id|url|domain|user|host|endpoint|email|region|account|name/i.test(name))
        .map(([, , quoted, raw]) => quoted ?? raw);
      return values.filter(isSample).map((value) => `${vendor}_token = "${value}"`);
    });
}

const PASSWORDS = [
  (word) => `password = "${word}"`,
  (word) => `DB_PASSWORD=${word}`,
  (word) => `  password: ${word}`,
  (word) => `mysql -u root -p${word} shop`,
  (word) => `Passwort: ${word}`,
  (word) => `curl -u admin:${word} https://ci.acme.dev/job`,
  (word) => `char *passwd = "${word}";`,
  (word) => `<password>${word}</password>`,
];
/** As people choose them: words with capitals, digits and signs. */
const passwordOf = () =>
  `${draw('BCDFGHKLMNPRST', 1)}${draw('aeiou', 1)}${draw('bcdfgklmnprst', 2)}${draw('aeiou', 1)}${draw('0123456789', 1 + Math.floor(random() * 4))}${draw('!#$%&*?', 1)}`;

/** The samples that the tests make. */
export async function ownSamples(scratch) {
  const outfile = join(scratch, 'samples.mjs');
  const inner = fileURLToPath(new URL('../test/support/', import.meta.url));
  const contents = `export * from '${inner}personal.js'; export * from '${inner}national-id.js';
    export * from '${inner}look-alikes.js'; export * from '${inner}disguises.js'; export { crcBody, seeded } from '${inner}secrets.js';`;
  const stdin = { contents, resolveDir: inner, loader: 'ts' };
  await build({ stdin, bundle: true, platform: 'node', format: 'esm', outfile, logLevel: 'warning' });
  return import(pathToFileURL(outfile).href);
}

async function identityNumbers(scratch) {
  const kit = await ownSamples(scratch);
  const r = kit.random(5);
  return Object.entries(kit.NATIONAL).flatMap(([id, { make, word }]) =>
    Array.from({ length: 10 }, () => `${word || id.replaceAll('-', ' ')}: ${make(r)}`),
  );
}

let guard;

const recall = (name, least, classes, samplesOf) => ({
  name: `guard: ${name}`,
  unit: '%',
  least,
  where: 'none',
  measure: async (_figure, _place, scratch) => {
    guard ??= await loadGuard(scratch);
    const samples = await samplesOf(scratch);
    if (!samples) return { skipped: `the samples could not be fetched from ${FROM}` };
    if (samples.length < 50)
      throw new Error(`only ${samples.length} samples were read: their format has changed`);
    const missed = samples.filter((text) => !guard.find(text, '').some((hit) => classes.includes(hit.class)));
    if (process.env.FORGE_SHOW_MISSES) console.error(missed.join('\n'));
    const rate = (100 * (samples.length - missed.length)) / samples.length;
    return { name: `guard: ${name} (${samples.length})`, median: rate, min: rate, max: rate };
  },
});

export const GUARD_GOALS = [
  recall('gitleaks samples found', 93, ['secret'], gitleaksSamples),
  recall('TruffleHog samples found', 75, ['secret'], truffleHogSamples),
  recall('passwords found in assignments', 60, ['secret'], () =>
    Array.from({ length: 50 }, passwordOf).flatMap((word) => PASSWORDS.map((form) => form(word))),
  ),
  recall('identity numbers found beside a word', 75, ['national-id'], identityNumbers),
];
