// node test/recorded/compare.mjs A.json B.json
// Prints what differs between two records; exit 1 when something does.
import { readFileSync } from 'node:fs';

const [before, after] = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')));
if (!before || !after) throw new Error('node test/recorded/compare.mjs A.json B.json');

const isObject = (value) => typeof value === 'object' && value !== null;

const NUMBERED = /<(hash|id|mark|uuid|backup)-(\d+)/g;

/** Which number of the one story is which of the other: where one hash is gone, all later ones have other numbers. */
class Pairs {
  there = new Map();
  back = new Map();

  /** True when the texts differ in such numbers alone, and each stands for one and the same. */
  agree(a, b) {
    if (a.replace(NUMBERED, '<$1') !== b.replace(NUMBERED, '<$1')) return false;
    const others = [...b.matchAll(NUMBERED)];
    return [...a.matchAll(NUMBERED)].every(
      ([name], i) => others[i] !== undefined && this.bind(name, others[i][0]),
    );
  }

  bind(one, other) {
    if (!this.there.has(one) && !this.back.has(other)) {
      this.there.set(one, other);
      this.back.set(other, one);
    }
    return this.there.get(one) === other;
  }
}

let pairs = new Pairs();
const isSame = (a, b) => (typeof a === 'string' && typeof b === 'string' ? pairs.agree(a, b) : a === b);

/** Path by path what differs. */
function* differences(a, b, path = '') {
  if (isObject(a) && isObject(b) && Array.isArray(a) === Array.isArray(b)) {
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    for (const key of keys) yield* differences(a[key], b[key], path === '' ? key : `${path}.${key}`);
    const order = [Object.keys(a), Object.keys(b)].map((names) => names.join(', '));
    const hasAll = keys.length === Object.keys(a).length && keys.length === Object.keys(b).length;
    if (hasAll && order[0] !== order[1]) yield [`${path} (order of keys)`, ...order];
  } else if (!isSame(a, b)) yield [path, a, b];
}

const say = (line) => process.stdout.write(`${line}\n`);
const shown = (value) => (value === undefined ? '(nothing)' : JSON.stringify(value));
let count = 0;

/** Pairs of places with the same command, in order (the longest common subsequence); undefined where one side has none. */
function align(a, b) {
  const titles = [a, b].map((steps) => steps.map(({ argv }) => argv.join(' ').replace(NUMBERED, '<$1')));
  const isEqual = (i, j) => titles[0][i] === titles[1][j];
  const common = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i][j] = isEqual(i, j) ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
  const pairs = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; )
    if (i < a.length && j < b.length && isEqual(i, j)) pairs.push([i++, j++]);
    else if (j >= b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1]))
      pairs.push([i++, undefined]);
    else pairs.push([undefined, j++]);
  return pairs;
}

function report(title, a, b) {
  const found = [...differences(a, b)];
  if (found.length === 0) return;
  count += found.length;
  say(title);
  for (const [path, was, is] of found) say(`  ${path || '(all)'}\n    - ${shown(was)}\n    + ${shown(is)}`);
}

for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
  const [a, b] = [before[name], after[name]];
  pairs = new Pairs();
  if (!a || !b) {
    report(`${name}: a story`, a && `${a.steps.length} steps`, b && `${b.steps.length} steps`);
    continue;
  }
  for (const [i, j] of align(a.steps, b.steps)) {
    const step = a.steps[i] ?? b.steps[j];
    report(`${name} ${(i ?? j) + 1}: ${step.argv.join(' ')}`, a.steps[i], b.steps[j]);
  }
  const only = (files, others) => files.filter((file) => !others.some((other) => pairs.agree(file, other)));
  report(`${name}: files`, only(a.files, b.files), only(b.files, a.files));
}
say(count === 0 ? 'No differences.' : `${count} differences.`);
process.exitCode = count === 0 ? 0 : 1;
