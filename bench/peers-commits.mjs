// `git commit` with forge's hooks, and with what else is used to check messages.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMIT, hooked } from './git-hooks.mjs';
import { run, wallRatios } from './measure.mjs';
import { forge } from './repositories.mjs';

/** The same change as forge's message tells, in the form that commitlint checks. */
const CONVENTIONAL =
  'feat: read the field where it is written in two ways\n\nHalf of the customers had it.\n';

const quoted = (argv) => argv.map((word) => `'${word}'`).join(' ');

function makeRepository(scratch, env, name) {
  const cwd = join(scratch, `commit-${name}`);
  mkdirSync(cwd);
  const place = { cwd, env };
  run(['git', 'init', '-q', '-b', 'main'], place);
  run(['git', 'commit', '-q', '--allow-empty', '-m', 'Begin'], place);
  writeFileSync(join(cwd, '.git', 'message'), CONVENTIONAL);
  return place;
}

/** husky as its documentation says, but for npx before the command, which takes longer than the command. */
function withHusky(scratch, env, { husky }, name, command) {
  const place = makeRepository(scratch, env, name);
  run(husky, place);
  const hook = join(place.cwd, '.husky', 'commit-msg');
  writeFileSync(hook, `${command}\n`);
  chmodSync(hook, 0o755);
  return place;
}

/** lefthook's own program, as its hooks find it in node_modules. */
function withLefthook(scratch, env, { lefthook }, name, command) {
  const place = makeRepository(scratch, { ...env, LEFTHOOK_BIN: lefthook[0] }, name);
  const config = { 'commit-msg': { commands: { check: { run: command } } } };
  // JSON is YAML.
  writeFileSync(join(place.cwd, 'lefthook.yml'), `${JSON.stringify(config)}\n`);
  run([...lefthook, 'install'], place);
  return place;
}

function configure(place, config) {
  writeFileSync(
    join(place.cwd, 'commitlint.config.mjs'),
    `export default { extends: [${JSON.stringify(join(config, 'lib', 'index.js'))}] };\n`,
  );
  return place;
}

/** A hook that lets anything pass would be quick for the wrong reason. */
function checkRefuses(name, place) {
  let refused = false;
  try {
    run(['git', 'commit', '-q', '--allow-empty', '-m', 'Nonsense.'], place);
  } catch {
    refused = true;
  }
  if (!refused) throw new Error(`${name}: the hook lets everything pass`);
}

/** `[name, place]`, where place is null for what cannot be had. */
function makeContenders(programs, scratch, env) {
  const found = Object.fromEntries(Object.entries(programs).map(([name, get]) => [name, get()]));
  const { husky, lefthook, commitlint, commitlintConfig } = found;
  const check = commitlint && commitlintConfig ? quoted([...commitlint, '--edit']) : null;
  const checked = (make, name, argument) => {
    const place = configure(make(scratch, env, found, name, `${check} ${argument}`), commitlintConfig);
    checkRefuses(name, place);
    return place;
  };
  const own = hooked(scratch, env);
  checkRefuses('forge', own);
  return [
    ['git commit: no hooks', makeRepository(scratch, env, 'plain')],
    ['git commit: forge, all its hooks', own],
    ['git commit: husky, nothing to do', husky && withHusky(scratch, env, found, 'husky', ':')],
    ['git commit: husky, commitlint', husky && check && checked(withHusky, 'husky-commitlint', '"$1"')],
    [
      'git commit: lefthook, nothing to do',
      lefthook && withLefthook(scratch, env, found, 'lefthook', 'true'),
    ],
    [
      'git commit: lefthook, commitlint',
      lefthook && check && checked(withLefthook, 'lefthook-commitlint', '{1}'),
    ],
  ];
}

const rowsOf = (contenders, ratios) => {
  let next = 0;
  return contenders.map(([name, place]) =>
    place ? { name, ...ratios[next++] } : { name, skipped: 'could not be installed' },
  );
};

/** A commit each, taking turns. */
export const commitsBeside =
  (programs) =>
  (_figure, { env }, scratch) => {
    const contenders = makeContenders(programs, scratch, env);
    const there = contenders.filter(([, place]) => place);
    return rowsOf(
      contenders,
      wallRatios(
        there.map(([, place]) => ({ argv: COMMIT, place })),
        there[0][1],
      ),
    );
  };

/** What checks a message, as a program of its own. forge looks for secrets as well. */
export const messagesBeside =
  ({ commitlint, commitlintConfig }) =>
  (_figure, { env }, scratch) => {
    const own = { argv: forge('hook', 'commit-msg', '.git/message'), place: hooked(scratch, env) };
    const [program, config] = [commitlint(), commitlintConfig()];
    const other = program && config && configure(makeRepository(scratch, env, 'commitlint'), config);
    const commands = [
      own,
      ...(other ? [{ argv: [...program, '--edit', '.git/message'], place: other }] : []),
    ];
    const contenders = [
      ['a message checked: forge hook commit-msg', own],
      ['a message checked: commitlint', other],
    ];
    return rowsOf(contenders, wallRatios(commands, own.place));
  };
