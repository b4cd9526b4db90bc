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
    return [...a.matchAll(NUMBERED)].every(([name], i) => this.bind(name, others[i][0]));
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
  for (let i = 0; i < Math.max(a.steps.length, b.steps.length); i++) {
    const argv = (a.steps[i] ?? b.steps[i]).argv.join(' ');
    report(`${name} ${i + 1}: ${argv}`, a.steps[i], b.steps[i]);
  }
  const only = (files, others) => files.filter((file) => !others.some((other) => pairs.agree(file, other)));
  report(`${name}: files`, only(a.files, b.files), only(b.files, a.files));
}
say(count === 0 ? 'No differences.' : `${count} differences.`);
process.exitCode = count === 0 ? 0 : 1;
