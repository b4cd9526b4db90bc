// Makes CommonJS functions of esbuild's split ES modules and puts those that are needed together into one file.
import { init, parse } from 'es-module-lexer';
import { transformSync } from 'esbuild';

await init;

/**
 * Throws where linking would be wrong. What a module exports is copied when it has started: right as long as none of it
 * changes later and no two modules need each other. esbuild's own form of CommonJS allows for both, and takes twice as
 * long to start. `inputs`, `outputs`: esbuild's metafile.
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

/**
 * The text of one file: `build`, by which a file of another build is known, and a function for each module. `idOf`: what
 * an import names → what is required.
 */
export function linkGroup(build, texts, idOf) {
  const functions = texts.map((text) => functionOf(text, idOf));
  return escapeText(`${START}[${[JSON.stringify(build), ...functions].join(',\n')}];\n`);
}

/** What a module's function is called with (bin/forge.js). */
const PARAMETERS = 'exports,require,__dirname,onUse';
const TARGET = 'node20.19';

/** Another module is loaded when something of it is first used: many a command uses little of what it could need. */
function functionOf(text, idOf) {
  const { code, modules } = lookUp(asScript(text, idOf));
  const loading = modules.map(([name, path]) => `const ${name}=onUse(${JSON.stringify(idOf(path))});`);
  const calls = modules.reduce((done, [name]) => done.replace(wholeWord(name), `(${name}())`), code);
  const source = `$=function(${PARAMETERS}){"use strict";${loading.join('')}${calls}}`;
  const { code: minified } = transformSync(source, { minify: true, target: TARGET });
  return minified.trim().slice('$='.length).replace(/;$/, '');
}

const isOwn = (path) => path.startsWith('./');
const wholeWord = (name) => new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`, 'g');

/** Only the imports of other modules of ours are left as they are. */
function asScript(text, idOf) {
  const [imports, exports] = parse(text);
  const [before, rest] = [[], []];
  let at = 0;
  for (const { n, ss, se, d } of imports) {
    const statement = text.slice(ss, se);
    // import.meta is gone already.
    if (d === -2) throw new Error('import.meta is left in a bundle.');
    if (n === undefined || statement.startsWith('export')) throw new Error(`Cannot link: ${statement}`);
    const required = `require(${JSON.stringify(idOf(n))})`;
    rest.push(text.slice(at, ss));
    if (d >= 0) rest.push(`Promise.resolve().then(()=>${required})`);
    else before.push(isOwn(n) ? `${statement};` : declaration(statement, required));
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

/**
 * esbuild puts `import_x.name` for each imported name, wherever it is not another one's: `modules` are all `import_x`
 * and the paths they stand for.
 */
function lookUp(script) {
  const wrapped = transformSync(script, {
    format: 'cjs',
    target: TARGET,
    logOverride: { 'commonjs-variable-in-esm': 'silent' },
  });
  const modules = [];
  const code = wrapped.code.replace(
    /^var (import_[\w$]+) = require\("(\.\/[^"]+)"\);$/gm,
    (_, name, path) => {
      modules.push([name, path]);
      return '';
    },
  );
  if (/\b__to(ESM|CommonJS)\b|require\("\.\//.test(code))
    throw new Error(`Cannot link: ${script.slice(0, 200)}`);
  return { code, modules };
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
