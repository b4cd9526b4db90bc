// npm run bench -- [--json | --markdown] [--write FILE] [--clean-env] [--quick] [NAME…]: every figure of forge, and what its
// peers take in the same run, as one table. See bench/README.md.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../scripts/built.mjs';
import { COMMANDS, measureCommand } from './commands.mjs';
import { COMMIT_FIGURES } from './commits.mjs';
import { EVENT_FIGURES } from './events.mjs';
import { GIT_HOOK_FIGURES } from './git-hooks.mjs';
import { GUARD } from './guard-figures.mjs';
import { GUARD_GOALS } from './guard-goals.mjs';
import { GUARD_TEXTS } from './guard-texts.mjs';
import { HOOKS } from './hooks.mjs';
import { ISSUE_FIGURES } from './issues.mjs';
import { LEDGER } from './ledger.mjs';
import { MCP } from './mcp.mjs';
import { Interrupted } from './measure.mjs';
import { PAGE_FIGURES } from './page.mjs';
import { PEERS, peersInUse } from './peers.mjs';
import { RECALL } from './recall/scale.mjs';
import { makeEnvironment, makeFeatures, makeLarge, makeSmall } from './repositories.mjs';
import { checkPage, describeRun, markdownTable, textTable, writePage } from './table.mjs';

const GROUPS = {
  commands: COMMANDS,
  'git hooks and commits': [...GIT_HOOK_FIGURES, ...COMMIT_FIGURES],
  'skills and issues': ISSUE_FIGURES,
  'events and claims': EVENT_FIGURES,
  ledgers: LEDGER,
  recall: RECALL,
  page: PAGE_FIGURES,
  guard: [...GUARD, ...GUARD_GOALS, ...GUARD_TEXTS],
  'MCP server': MCP,
  'hooks of agents': HOOKS,
  'beside other tools': PEERS,
};
const ALL = Object.entries(GROUPS).flatMap(([group, figures]) =>
  figures.map((figure) => ({ ...figure, group })),
);

async function measureAll(wanted, ownEnv) {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'forge-bench-')));
  const cleanUp = () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => {
      cleanUp();
      process.exit(130);
    });
  const env = makeEnvironment(scratch, ownEnv);
  const makers = {
    small: () => makeSmall(scratch, env),
    features: () => makeFeatures(scratch, env),
    large: () => makeLarge(env),
    none: () => ({ env }),
  };
  const places = {};
  try {
    const rows = [];
    for (const figure of wanted) {
      console.error(`… ${figure.name}`);
      rows.push(...(await measure(figure, () => (places[figure.where] ??= makers[figure.where]()), scratch)));
    }
    return rows;
  } finally {
    cleanUp();
  }
}

/** The rows of a figure; those of peers have several. One that cannot be measured does not take the others along. */
async function measure(figure, placeOf, scratch) {
  const { name, group, unit, least, limit } = figure;
  const row = { name, group, unit, least, limit };
  try {
    const found = await (figure.measure ?? measureCommand)(figure, placeOf(), scratch);
    return [found].flat().map((part) => judged({ ...row, ...part }));
  } catch (error) {
    if (error instanceof Interrupted) throw error;
    console.error(error);
    return [{ ...row, failed: error.message.split('\n')[0].slice(0, 200), ok: false }];
  }
}

function judged(row) {
  const { skipped, median, least = Number.NEGATIVE_INFINITY, limit = Number.POSITIVE_INFINITY } = row;
  return { ...row, ok: skipped !== undefined || (median >= least && median <= limit) };
}

const USAGE = `Usage: npm run bench -- [--json | --markdown] [--write FILE] [--clean-env] [--quick] [NAME…]
NAME is a part of a figure's name:
${ALL.map(({ name, group }) => `  ${group}: ${name}`).join('\n')}`;

/** What is asked for; null when it cannot be understood. */
function readArguments(args) {
  const flag = { type: 'boolean', default: false };
  const options = { json: flag, markdown: flag, write: { type: 'string' }, 'clean-env': flag, quick: flag };
  try {
    const { values, positionals: names } = parseArgs({ args, options, allowPositionals: true });
    const matches = ({ name, group }) => names.some((word) => `${group}: ${name}`.includes(word));
    const wanted = names.length === 0 ? ALL : ALL.filter(matches);
    return wanted.length === 0 ? null : { ...values, names, wanted };
  } catch {
    return null;
  }
}

function print({ json, markdown, write }, facts, rows) {
  if (json) console.log(JSON.stringify({ run: Object.fromEntries(facts), rows }));
  else {
    console.log(`${facts.map(([name, value]) => `${name}: ${value}`).join('\n')}\n`);
    console.log(markdown ? markdownTable(rows) : textTable(rows));
  }
  if (write !== undefined) writePage(write, facts, rows);
}

async function main(args) {
  const asked = readArguments(args);
  if (asked === null) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  if (asked.write !== undefined) checkPage(asked.write);
  ensureBuilt();
  const [before] = loadavg();
  if (before > 0.7)
    console.error(`The machine is busy (load ${before.toFixed(1)}): the figures will be rough.`);
  const ownEnv = !asked['clean-env'];
  const rows = await measureAll(asked.wanted, ownEnv);
  const load = [before, loadavg()[0]];
  print(asked, describeRun({ ownEnv, names: asked.names, load, peers: peersInUse() }), rows);
  if (rows.some(({ ok }) => !ok)) process.exitCode = 1;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(`bench: ${error.message}`);
  process.exitCode = error instanceof Interrupted ? 130 : 1;
}
