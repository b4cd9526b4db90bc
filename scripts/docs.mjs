// npm run docs [-- --check]: writes what follows from the source, or with --check says what is stale (exit 1):
// docs/commands.md, docs/library.md, docs/page-api.md, docs/guard-rules.md, the digest of the guard's rules in CHANGELOG.md,
// schemas/*.json, the folders in agents/, and the last column of docs/requirements.md.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { agentFolders } from './agent-folders.mjs';
import { libraryPage } from './library.mjs';
import { pageApi } from './page-api.mjs';
import { loadSources } from './sources.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The command specs, the schemas, the guard's rules, and what agents are given. */
const SOURCES = `
  export * from './src/cli/groups.ts';
  export { GLOBAL_OPTIONS, HELP_OPTION, helpOf, optionsOf } from './src/cli/spec.ts';
  export * from './src/cli/about.ts';
  export { passedVariables } from './src/core/environment.ts';
  export { schemaNames, schemaOf } from './src/index.ts';
  export { ROUTES } from './src/ui/api.ts';
  export { guardRules } from './src/guard/document.ts';
  export { partsOf } from './src/agent/parts.ts';`;

/** Every group with its commands; `full` is what a person types after "forge". */
async function readGroups({ GROUPS }) {
  const groups = [];
  for (const { name, heading, summary, load } of GROUPS) {
    const commands = (await load()).map((spec) => ({
      ...spec,
      full: name === 'where' ? 'forge' : spec.name === name ? `forge ${name}` : `forge ${name} ${spec.name}`,
    }));
    groups.push({ name, heading, summary, commands });
  }
  return groups;
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
const code = (text) => `\`${text.replaceAll('|', '\\|')}\``;
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

const usageOf = ({ full, args = [] }) => [full, ...args].join(' ');

const optionPairs = (options, { helpOf }) => options.map((option) => [option.flags, helpOf(option)]);

function commandSection(spec, sources) {
  const options = optionPairs(sources.optionsOf(spec), sources);
  const parts = [
    `### ${code(spec.full)}`,
    `${spec.summary}.`,
    `\`\`\`text\n${usageOf(spec)}${options.length > 0 ? ' [options]' : ''}\n\`\`\``,
  ];
  if (options.length > 0)
    parts.push(
      table(
        ['option', ''],
        options.map(([flags, help]) => [code(flags), cell(help)]),
      ),
    );
  parts.push(`Example: \`${spec.example}\``);
  return parts.join('\n\n');
}

function commandsPage(groups, sources) {
  const {
    EXIT_CODE_HELP,
    ENVIRONMENT_HELP,
    GLOBAL_OPTIONS,
    HELP_OPTION,
    ABOUT,
    passedVariables,
    SHORT_WAYS,
    TOPICS,
  } = sources;
  const rows = (pairs) => pairs.map(([name, text]) => [code(String(name)), cell(text)]);
  return `${[
    '# Commands',
    'Written by `npm run docs` from the source; `forge help COMMAND` says the same.',
    'The answer goes to stdout, everything else to stderr. A text argument of `-` is read from stdin; what follows `--` is taken literally.',
    groupTable(groups),
    '## Short ways',
    'Aliases of the commands used every day. Options and arguments follow as for the full command.',
    table(
      ['short', 'in full'],
      [
        ...Object.entries(SHORT_WAYS).map(([name, { words }]) => [name, words.join(' ')]),
        ['version', '--version'],
      ].map((names) => names.map((name) => code(`forge ${name}`))),
    ),
    ...groups.flatMap(({ name, summary, commands }) => [
      `## ${name === 'where' ? 'forge' : `forge ${name}`}`,
      ...(commands.length > 1 ? [`${summary}.`] : []),
      ...(ABOUT[name] ? [cell(ABOUT[name])] : []),
      ...commands.map((spec) => commandSection(spec, sources)),
    ]),
    '## Options of every command',
    table(['option', ''], rows(optionPairs([...GLOBAL_OPTIONS, HELP_OPTION], sources))),
    'With `--json`, a failure is one line on stderr: `{"error":{"kind","code","message","exit","hint"?,"file"?,"line"?,"field"?}}`.',
    '## Topics',
    'What `forge help TOPIC` explains.',
    table(
      ['topic', ''],
      TOPICS.map(([name, text]) => [`[${name}](../templates/topics/${name}.md)`, cell(text)]),
    ),
    '## Exit codes',
    table(['code', ''], rows(EXIT_CODE_HELP)),
    '## Environment',
    table(['variable', ''], rows(ENVIRONMENT_HELP)),
    'Tests of features, commands of checkpoints and `init.sh` get only the following, proxies and registries without their password. A test sets another one itself: `--test "RAILS_ENV=test bin/rails test"`.',
    table(
      ['of', 'variables'],
      passedVariables().map(([of, names]) => [of, names.split(' ').map(code).join(' ')]),
    ),
  ].join('\n\n')}\n`;
}

/** A line a group: what each of its commands does stands on the page of all. */
function groupTable(groups) {
  const rows = groups
    .filter(({ heading }) => heading !== null)
    .map(({ name, summary, commands }) => {
      const inner = commands.filter((spec) => spec.name !== name).map((spec) => code(spec.name));
      return [`[${code(`forge ${name}`)}](#forge-${name})`, inner.join(', '), cell(summary)];
    });
  return table(['command', '', 'what it does'], rows);
}

/** Each rule on a line, so that a difference between two versions reads like one. */
function rulesPage(rules) {
  const rows = rules.map(({ id, class: name, what, source, keywords }) => [
    code(id),
    name,
    cell(what),
    keywords.length > 3 ? `${keywords.slice(0, 3).map(code).join(' ')} …` : keywords.map(code).join(' '),
    source,
  ]);
  return `${[
    "# The guard's rules",
    'Written by `npm run docs` from the source. [guard.md](guard.md) explains their use and what a hit means.',
    `${rules.length} rules. A rule is tried only near its keywords. A rule without keywords recognizes a text by its form alone.`,
    table(['rule', 'class', 'finds', 'keywords', 'documented at'], rows),
  ].join('\n\n')}\n`;
}

/** A changed rule changes this line, and so shows in the release notes. */
function rulesLine(rules) {
  const hash = createHash('sha256');
  for (const { id, class: name, keywords, pattern } of rules)
    hash.update(JSON.stringify([id, name, keywords, pattern.source, pattern.flags]));
  return `Guard: ${rules.length} rules, table \`${hash.digest('hex').slice(0, 12)}\` (docs/guard-rules.md).`;
}

function fillChangelog(text, line) {
  if (!RULES_LINE.test(text)) throw new Error('CHANGELOG.md lacks the line "Guard: N rules, table …".');
  return text.replace(RULES_LINE, line);
}

const RULES_LINE = /Guard: \d+ rules, table `[0-9a-f]*` \(docs\/guard-rules\.md\)\./;

/** Path → content of every generated file. */
async function generate() {
  const sources = await loadSources(SOURCES);
  const groups = await readGroups(sources);
  const files = new Map();
  files.set('docs/commands.md', commandsPage(groups, sources));
  files.set('docs/page-api.md', pageApi(sources));
  files.set('docs/library.md', libraryPage());
  const rules = sources.guardRules();
  files.set('docs/guard-rules.md', rulesPage(rules));
  files.set(
    'CHANGELOG.md',
    fillChangelog(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), rulesLine(rules)),
  );
  for (const name of await sources.schemaNames())
    files.set(`schemas/${name}.json`, `${JSON.stringify(await sources.schemaOf(name), null, 2)}\n`);
  for (const [path, content] of agentFolders(sources)) files.set(path, content);
  return files;
}

/** Schemas of formats that are no more, and files of agents that nobody writes. */
function leftOver(files) {
  const found = ['schemas', 'agents'].flatMap(filesIn);
  return found.filter((path) => !files.has(path) && basename(path) !== 'README.md');
}

function filesIn(folder) {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesIn(`${folder}/${entry.name}`) : [`${folder}/${entry.name}`],
  );
}

function isStale([path, content]) {
  const target = join(ROOT, path);
  return !existsSync(target) || readFileSync(target, 'utf8') !== content;
}

async function main(args) {
  const check = args.includes('--check');
  if (args.some((arg) => arg !== '--check')) {
    console.error('Usage: npm run docs [-- --check]');
    process.exitCode = 2;
    return;
  }
  const files = await generate();
  const stale = [...files].filter(isStale);
  const extra = leftOver(files);
  for (const path of [...stale.map(([name]) => name), ...extra])
    console.log(check ? `${path} is stale` : path);
  if (check && stale.length + extra.length > 0) {
    console.error('Run: npm run docs');
    process.exitCode = 1;
  }
  if (!check) {
    for (const [path, content] of stale) {
      mkdirSync(dirname(join(ROOT, path)), { recursive: true });
      writeFileSync(join(ROOT, path), content);
    }
    for (const path of extra) rmSync(join(ROOT, path));
  }
  const requirements = join(ROOT, 'scripts', 'requirements.mjs');
  const { status } = spawnSync(process.execPath, [requirements, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}

await main(process.argv.slice(2));
