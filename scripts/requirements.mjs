#!/usr/bin/env node
// Fills the column "shown by" of docs/requirements.md from the titles of the tests.
// Usage: node scripts/requirements.mjs            rewrite the column
//        node scripts/requirements.mjs --check    print the stale rows, exit 1 when there are any
import { readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const PROJECT = join(dirname(fileURLToPath(import.meta.url)), '..');
const DOC = join('docs', 'requirements.md');
const PLANNED = 'planned';
const FILES_SHOWN = 3;

// The last cell holds no bar, so a `\|` inside the wording stays in the second one.
const ROW = /^\| ([A-Z]{3}-\d\d|B-\d{2,}) \| (.*) \| ([^|\r\n]*) \|(?=\r?$)/gm;

// These look like an ID and are none.
const NOT_IDS = new Set(['UTF-16', 'UTF-32']);

/** The requirement IDs named in a text, each once; `B-7` counts as `B-07`. */
export function findIds(text) {
  const found = [...text.matchAll(/\b(?:[A-Z]{3}-\d\d|B-\d+)\b/g)].map(([id]) => id);
  const ids = found.map((id) => id.replace(/^B-(\d)$/, 'B-0$1'));
  return [...new Set(ids)].filter((id) => !NOT_IDS.has(id));
}

/**
 * The titles of all calls of it, test and describe, with whatever stands between name and title
 * (`.each([…])`, `.each`…``, `.skipIf(…)`, `.concurrent`). `counts` is false for `.skip` and `.todo`:
 * they show nothing. Only literal titles are seen; comments, strings and regular expressions are not code.
 */
export function readTitles(source) {
  const titles = [];
  for (let at = 0; at < source.length; ) {
    const end = skipToken(source, at);
    if (/^(?:it|test|describe)$/.test(source.slice(at, end)) && source[at - 1] !== '.') {
      const call = readCall(source, end);
      if (call) titles.push(call);
    }
    at = end;
  }
  return titles;
}

/** Follows the chain behind the name of a test function up to the call whose first argument is a literal. */
function readCall(source, start) {
  let counts = true;
  for (let at = skipSpace(source, start); ; at = skipSpace(source, at)) {
    if (source[at] === '.') {
      const nameAt = skipSpace(source, at + 1);
      at = skipToken(source, nameAt);
      if (/^(?:skip|todo)$/.test(source.slice(nameAt, at))) counts = false;
    } else if (source[at] === '`') {
      at = skipTemplate(source, at); // the table of .each`…`
    } else if (source[at] === '(') {
      const first = skipSpace(source, at + 1);
      if (/['"`]/.test(source[first] ?? '')) {
        return { title: source.slice(first + 1, skipToken(source, first) - 1), counts };
      }
      at = skipGroup(source, at);
    } else {
      return undefined;
    }
  }
}

/** The index behind the token at `at`: a comment, string, template, regular expression, word, or one character. */
function skipToken(source, at) {
  const two = source.slice(at, at + 2);
  if (two === '//') return match(source, at, /\/\/[^\n]*/y);
  if (two === '/*') return match(source, at, /\/\*[\s\S]*?\*\//y);
  if (source[at] === '/' && startsRegExp(source, at)) {
    return match(source, at, /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/\w*/y);
  }
  // A quote ends with its line at the latest, so a misread one costs a line and not the file.
  if (source[at] === "'") return match(source, at, /'(?:\\[\s\S]|[^'\\\n])*'?/y);
  if (source[at] === '"') return match(source, at, /"(?:\\[\s\S]|[^"\\\n])*"?/y);
  if (source[at] === '`') return skipTemplate(source, at);
  return match(source, at, /[\w$]+/y);
}

function match(source, at, sticky) {
  sticky.lastIndex = at;
  return sticky.test(source) ? sticky.lastIndex : at + 1;
}

/** A slash divides after a value and opens a regular expression after an operator, a bracket or a keyword. */
function startsRegExp(source, at) {
  const before = source.slice(Math.max(0, at - 200), at).trimEnd();
  return (
    before === '' || /(?:[-(,=:[!&|?{;+*%<>~^]|\b(?:return|typeof|case|of|in|await|yield))$/.test(before)
  );
}

/** The index behind a template literal; what stands in `${…}` may hold strings and templates again. */
function skipTemplate(source, start) {
  for (let at = start + 1; at < source.length; ) {
    if (source[at] === '`') return at + 1;
    if (source[at] === '\\') at += 2;
    else if (source.startsWith('${', at)) at = skipGroup(source, at + 1);
    else at += 1;
  }
  return source.length;
}

/** The index behind the bracket that closes the one at `start`. */
function skipGroup(source, start) {
  let depth = 0;
  for (let at = start; at < source.length; ) {
    if ('([{'.includes(source[at])) depth += 1;
    else if (')]}'.includes(source[at])) depth -= 1;
    at = skipToken(source, at);
    if (depth === 0) return at;
  }
  return source.length;
}

function skipSpace(source, start) {
  const space = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
  space.lastIndex = start;
  space.test(source);
  return space.lastIndex;
}

/** Every test/**\/*.test.ts below `root`, by its path below test/ with forward slashes, in a stable order. */
export function listTestFiles(root) {
  const top = join(root, 'test');
  const entries = readdirSync(top, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) => relative(top, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
}

/**
 * Which test files name which ID: `shown` takes only tests that run, `named` also skipped ones and todos.
 * Both are maps from ID to sorted file names.
 */
export function collectIds(root) {
  const shown = new Map();
  const named = new Map();
  for (const file of listTestFiles(root)) {
    const titles = readTitles(readFileSync(join(root, 'test', file), 'utf8'));
    addFile(named, file, titles);
    addFile(
      shown,
      file,
      titles.filter((title) => title.counts),
    );
  }
  return { shown, named };
}

function addFile(map, file, titles) {
  for (const id of new Set(titles.flatMap(({ title }) => findIds(title)))) {
    map.set(id, [...(map.get(id) ?? []), file]);
  }
}

/** What the third column says of these files. */
export function formatFiles(files = []) {
  if (files.length === 0) return PLANNED;
  const rest = files.length - FILES_SHOWN;
  return files.slice(0, FILES_SHOWN).join(', ') + (rest > 0 ? ` +${rest}` : '');
}

/** The rows of the document, in its order. */
export function readRows(doc) {
  return [...doc.matchAll(ROW)].map(([, id, wording, cell]) => ({ id, wording, cell }));
}

/** The document with its third column filled from `shown`; nothing else changes. */
export function fillRows(doc, shown) {
  return doc.replace(ROW, (_, id, wording) => `| ${id} | ${wording} | ${formatFiles(shown.get(id))} |`);
}

/** One line a row whose third column is not what the tests say. */
export function findStale(doc, shown) {
  return readRows(doc)
    .map(({ id, cell }) => ({ id, cell, wanted: formatFiles(shown.get(id)) }))
    .filter(({ cell, wanted }) => cell !== wanted)
    .map(({ id, cell, wanted }) => `${id}: "${cell}" should be "${wanted}"`);
}

function check(doc, shown) {
  const stale = findStale(doc, shown);
  for (const line of stale) console.log(line);
  if (stale.length > 0) {
    console.error(`${DOC}: ${stale.length} stale. Run: node scripts/requirements.mjs`);
    process.exitCode = 1;
  }
}

function main(args) {
  if (args.length > 1 || (args.length === 1 && args[0] !== '--check')) {
    console.error('Usage: node scripts/requirements.mjs [--check]');
    process.exitCode = 2;
    return;
  }
  const file = join(PROJECT, DOC);
  const doc = readFileSync(file, 'utf8');
  const { shown } = collectIds(PROJECT);
  if (args[0] === '--check') return check(doc, shown);
  const filled = fillRows(doc, shown);
  if (filled !== doc) writeFileSync(file, filled);
}

// Run only as a program: the test imports the functions.
if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  main(process.argv.slice(2));
}
