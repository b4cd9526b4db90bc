// Makes CommonJS functions of esbuild's split ES modules and puts those that are needed together into one file.
import { init, parse } from 'es-module-lexer';

await init;

/**
 * Throws where linking would be wrong. Names of one module that another one takes are copied when it starts: right as long
 * as none changes later and no two modules need each other. esbuild's own form of CommonJS allows for both, and takes twice
 * as long to start. `inputs`, `outputs`: esbuild's metafile.
 */
export function checkLinkable({ inputs, outputs }, textOf) {
  for (const [path, { imports }] of Object.entries(inputs)) {
    if (/\.[cm]?[jt]s$/.test(path) && /^\s*export\s+let\b/m.test(textOf(path)))
      throw new Error(`${path} exports a variable that may change.`);
    const lazy = imports.find(
      ({ kind, path: to }) => kind === 'require-call' && inputs[to]?.format === 'esm',
    );
    if (lazy) throw new Error(`${path} requires ${lazy.path}, an ES module: its names would come too late.`);
  }
  const state = new Map();
  const visit = (path) => {
    if (state.get(path) === 'open') throw new Error(`${path} is needed by what it needs itself.`);
    if (state.has(path)) return;
    state.set(path, 'open');
    for (const { kind, path: to } of outputs[path]?.imports ?? []) if (kind === 'import-statement') visit(to);
    state.set(path, 'done');
  };
  for (const path of Object.keys(outputs)) visit(path);
}

/** Bytes. Reading one file more takes as long as compiled code of about this size does that is not needed. */
const SMALL = 10_000;

/**
 * Modules with the same users are in one group, named after them: group → names. That of `entry` is "main", which it
 * begins; that of modules without users is "rest"; a small one is part of the next larger that all its users load.
 * `modules`: name → text; `usersOf`: name → names.
 */
export function groupModules(modules, entry, usersOf) {
  const groups = new Map();
  for (const name of [entry, ...modules.keys()]) {
    const users = [...usersOf(name)].sort();
    const group = groups.get(users.join('.')) ?? { users, names: new Set() };
    groups.set(users.join('.'), { ...group, names: group.names.add(name) });
  }
  const sizeOf = ({ names }) => [...names].reduce((sum, name) => sum + modules.get(name).length, 0);
  const byUsers = [...groups.values()].sort((a, b) => a.users.length - b.users.length);
  for (const [i, group] of byUsers.entries()) {
    const holds = ({ users }) => group.users.every((user) => users.includes(user));
    const larger = group.users.length > 0 && sizeOf(group) < SMALL && byUsers.slice(i + 1).find(holds);
    if (!larger) continue;
    for (const name of group.names) larger.names.add(name);
    group.names.clear();
  }
  const nameOf = ({ users, names }) => (names.has(entry) ? 'main' : users.join('.') || 'rest');
  return new Map(
    byUsers.filter(({ names }) => names.size > 0).map((group) => [nameOf(group), [...group.names]]),
  );
}

/** Of a script as of what is required, the list is the value. Text put around it would be copied at every start. */
const START = "(typeof module==='object'?module:{}).exports=";

/** The text of one file: a list of functions, one for each module. `idOf`: what an import names → what is required. */
export function linkGroup(texts, idOf) {
  const functions = texts.map(
    (text) => `function(exports,require,__dirname){"use strict";${body(text, idOf)}}`,
  );
  return escapeText(`${START}[${functions.join(',\n')}];\n`);
}

function body(text, idOf) {
  const [imports, exports] = parse(text);
  const [before, rest] = [[], []];
  let at = 0;
  for (const { n, ss, se, d } of imports) {
    // import.meta is gone already.
    if (d === -2) throw new Error('import.meta is left in a bundle.');
    if (n === undefined || text.startsWith('export', ss))
      throw new Error(`Cannot link: ${text.slice(ss, se)}`);
    const required = `require(${JSON.stringify(idOf(n))})`;
    rest.push(text.slice(at, ss));
    if (d >= 0) rest.push(`Promise.resolve().then(()=>${required})`);
    else before.push(declaration(text.slice(ss, se), required));
    at = se;
  }
  const end = text.slice(at);
  const list = /export\s*\{([^}]*)\};?\s*$/.exec(end);
  const named = list ? pairs(list[1]) : [];
  if (named.length !== exports.length)
    throw new Error('Cannot link what is exported elsewhere than at the end.');
  return [
    ...before,
    ...rest,
    list ? end.slice(0, list.index) : end,
    ...named.map(([own, outer]) => `;exports.${outer}=${own}`),
  ].join('');
}

const pairs = (list) =>
  list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => part.split(/\s+as\s+/))
    .map(([own, outer = own]) => [own, outer]);

function declaration(statement, required) {
  const form =
    /^import\s*(?:([\w$]+)\s*,?\s*)?(?:\*\s*as\s+([\w$]+)|\{([^}]*)\})?\s*(?:from\s*)?["'][^"']+["']$/;
  const found = form.exec(statement);
  if (!found) throw new Error(`Cannot link: ${statement}`);
  const [, whole, all, list = ''] = found;
  const names = pairs(list).map(([outer, own]) => (outer === own ? own : `${outer}:${own}`));
  return [
    ...[whole, all].filter((name) => name !== undefined).map((name) => `const ${name}=${required};`),
    ...(names.length > 0 ? [`const{${names.join(',')}}=${required};`] : []),
    ...(whole || all || names.length > 0 ? [] : [`${required};`]),
  ].join('');
}

/**
 * Node reads and compiles a file of ASCII alone in half the memory. What the bundler leaves as it is stands in regular
 * expressions, where an escape is the same.
 */
const escapeText = (text) =>
  text.replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
