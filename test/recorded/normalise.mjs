// Puts stable placeholders in the place of what is another one in each run.
import { createHash } from 'node:crypto';

/** Numbers of these keys are another one in each run. */
const NUMBERS = {
  '<ms>': /(^|_)(ms|duration|elapsed)$/,
  '<pid>': /^pid$/,
  '<bytes>': /(^|_)bytes$|^offset$/,
};
/** Strings of these keys. */
const STRINGS = {
  '<boot>': /^boot$/,
  '<started>': /^started$/,
  '<salt>': /^salt$/,
  // Eight digits of a hash may have no letter.
  '<seg>': /^seg$/,
  '<key>': /^public_key$/,
  '<signature>': /^signature$/,
};

const HEX = /(?<![\w-])[0-9a-f]{7,64}(?![\w])|(?<=[-_])[0-9a-f]{7,64}(?![\w])/g;

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Numbers by first appearance, one count for each word. */
class Names {
  counts = new Map();
  seen = new Map();
  /** From now on what is new gets no number. */
  isClosed = false;

  of(word, value) {
    const key = `${word} ${value}`;
    if (this.isClosed && !this.seen.has(key)) return word;
    if (!this.seen.has(key)) {
      this.counts.set(word, (this.counts.get(word) ?? 0) + 1);
      this.seen.set(key, this.counts.get(word));
    }
    return `${word}-${this.seen.get(key)}`;
  }
}

class Normaliser {
  names = new Names();
  /** Hashes in full, so that a short form is known as one of them. */
  known = new Set();
  /** Short ones whose full form nobody printed. */
  short = [];

  constructor({ places, version, objects, ledgers }, text) {
    this.places = places;
    this.version = new RegExp(`(?<![\\w.])${escaped(version)}(?![\\w.])`, 'g');
    for (const [hash] of `${objects} ${text}`.matchAll(/\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b/g))
      this.known.add(hash);
    for (const line of ledgers) this.known.add(createHash('sha256').update(line).digest('hex'));
    const days = [0, -1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10));
    this.today = new RegExp(`\\b(?:${days.join('|')})\\b`, 'g');
  }

  /** `isSure`: it is one by its place, whatever its digits. */
  hash(word, isSure = false) {
    if (word === 'ed25519') return word;
    let full =
      word.length >= 40 ? word : [...this.known, ...this.short].find((hash) => hash.startsWith(word));
    const isMixed = /[a-f]/.test(word) && /\d/.test(word);
    if (full === undefined && !isMixed && !isSure) return word;
    if (full === undefined) {
      full = word;
      this.short.push(word);
    }
    const name = this.names.of('hash', full);
    return full === word ? `<${name}>` : `<${name}:${word.length}>`;
  }

  text(text) {
    let result = text;
    for (const [place, word] of this.places) result = result.replaceAll(place, word);
    return result
      .replace(this.version, '<version>')
      .replace(/("salt\\?": ?\\?")\w+/g, '$1<salt>')
      .replace(/("seg\\?": ?\\?")\w+/g, '$1<seg>')
      .replace(/("\w+_ms\\?": ?)\d+/g, '$1<ms>')
      .replace(/(\bprocess|section_(?:start|end):)( ?)\d+/g, '$1$2<number>')
      .replace(/[\w+/]{43}=/g, '<key>')
      .replace(/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/g, (id) => `<${this.names.of('uuid', id)}>`)
      .replace(/\b\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z(?:-[0-9a-f]{6})?/g, '<conflict>')
      .replace(/\b\d{8}T\d{6}Z-[0-9a-z]+/g, (name) => `<${this.names.of('backup', name)}>`)
      .replace(
        /\b\d{4}-\d\d-\d\d(-session-\d{3})-([0-9a-f]{6})(?:-([0-9a-f]{8}))?/g,
        (_, number, id, file) =>
          `<date>${number}-<${this.names.of('id', id)}>${file ? `-<${this.names.of('id', file)}>` : ''}`,
      )
      .replace(
        /\b(solo|init|put|red|architecture)-([0-9a-f]{8})\b/g,
        (_, word, id) => `${word}-<${this.names.of('id', id)}>`,
      )
      .replace(
        /\b(data|end|End of the KFR) ([0-9a-f]{12})\b/g,
        (_, word, id) => `${word} <${this.names.of('mark', id)}>`,
      )
      .replace(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\\?\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g, '<time>')
      .replace(this.today, '<date>')
      .replace(/\b\d\d:\d\d(?::\d\d)?\b/g, '<clock>')
      .replace(/\bjust now\b|\b\d+ (?:s|min|h|seconds?|minutes?) ago\b/g, '<age>')
      .replace(/\b\d+ (?:s|min) old\b|(?<=newest entry is )new\b/g, '<age> old')
      .replace(/(?<= ) *\b\d+(?:\.\d+)? (?:ms|s)\b|\b\d+(?:\.\d+)? (?:ms|s)\b/g, '<ms>')
      .replace(/\b\d+(?:\.\d+)? (?:B|KiB|KB)\b(?: +(?= ))?/g, '<bytes>')
      .replace(/(?<=-)[0-9a-f]{8}(?=\.jsonl)/g, (word) => this.hash(word, true))
      .replace(HEX, (word) => this.hash(word));
  }

  /** What stands in the order of random names: without numbers, which would follow that order. */
  inAnyOrder(texts) {
    this.names.isClosed = true;
    const normal = texts.map((text) => this.text(text).replace(/<(id|hash)-\d+/g, '<$1')).sort();
    this.names.isClosed = false;
    return normal;
  }

  value(value, key = '') {
    if (typeof value === 'string') {
      for (const [word, keys] of Object.entries(STRINGS)) if (keys.test(key)) return word;
      return this.text(value);
    }
    if (typeof value === 'number')
      return Object.entries(NUMBERS).find(([, keys]) => keys.test(key))?.[0] ?? value;
    // forge begins another ledger file when git's index changed, and git refreshes its index as time allows.
    if (key === 'containers' && Array.isArray(value)) return [...new Set(this.inAnyOrder(value))];
    if (key === 'heads' && Array.isArray(value) && value.length > 1) return this.inAnyOrder(value);
    if (Array.isArray(value)) return value.map((item) => this.value(item, key));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [this.text(name), this.value(item, name)]),
    );
  }
}

function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const linesOf = (text) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
/** A JSON value, or lines, those that are JSON parsed. */
const readOutput = (text) => parsed(text) ?? readLines(text);
const readLines = (text) => linesOf(text).map((line) => parsed(line) ?? line);

/** Steps with `stdout` and `stderr` as text, and the files that were left, as they are recorded. Files have no order that new names could follow. */
export function normaliseStory({ steps, files }, facts) {
  const normaliser = new Normaliser(facts, JSON.stringify(steps));
  const normal = steps.map(({ stdout, stderr, ...step }) =>
    normaliser.value({ ...step, stdout: readOutput(stdout), stderr: readLines(stderr) }),
  );
  normaliser.names.isClosed = true;
  // A copy in local/kept has its path as its name.
  const paths = files.map((path) => normaliser.text(path.replaceAll('%2F', '/')));
  return { steps: normal, files: paths.sort() };
}
