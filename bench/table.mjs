// The figures as one table: for a terminal, as Markdown, and between the marks of a page.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { QUICK } from './measure.mjs';

const HEAD = ['figure', 'median', 'unit', 'limit', 'range', 'time', ''];

/** Long numbers need no decimals, short ones two. */
const number = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2));

function limitOf({ limit, least, git_alone }) {
  if (git_alone !== undefined) return `≤ ${number(limit - git_alone)} + ${number(git_alone)} git`;
  if (least !== undefined) return `≥ ${number(least)}`;
  return limit === undefined ? '' : `≤ ${number(limit)}`;
}

function verdict({ limit, least, ok }) {
  if (limit === undefined && least === undefined) return '';
  return ok ? 'ok' : 'missed';
}

function cells(row) {
  if (row.skipped) return [row.name, '-', '-', '-', '-', '-', `skipped: ${row.skipped}`];
  if (row.failed) return [row.name, '-', '-', '-', '-', '-', `failed: ${row.failed}`];
  const ms = row.ms === undefined || row.ms === row.median ? '' : `${row.ms.toFixed(row.ms < 10 ? 1 : 0)} ms`;
  const range = `${number(row.min)}–${number(row.max)}`;
  return [row.name, number(row.median), row.unit ?? 'node -e 0', limitOf(row), range, ms, verdict(row)];
}

/** Each group of figures under a line of its own. */
function lines(rows, heading) {
  return rows.flatMap((row, i) => [
    ...(row.group === rows[i - 1]?.group ? [] : [heading(row.group)]),
    cells(row),
  ]);
}

export function textTable(rows) {
  const table = [HEAD, ...lines(rows, (group) => [`── ${group}`])];
  const wide = table.filter((row) => row.length > 1);
  const widths = HEAD.map((_, i) => Math.max(...wide.map((row) => row[i].length)));
  return table
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function markdownTable(rows) {
  const line = (row) => `| ${row.join(' | ')} |`;
  const blank = HEAD.slice(1).map(() => '');
  const body = lines(rows, (group) => [`**${group}**`, ...blank]);
  const table = [
    HEAD,
    HEAD.map(() => '---'),
    ...body.map((row) => row.map((cell) => cell.replaceAll('|', '\\|'))),
  ];
  return table.map(line).join('\n');
}

/** What was measured on, in the order in which one asks. `load`: how busy the machine was, at the start and at the end. */
export function describeRun({ ownEnv, names, load, peers }) {
  const git = spawnSync('git', ['--version'], { encoding: 'utf8' }).stdout.trim().replace('version ', '');
  return [
    ['date', new Date().toISOString().slice(0, 10)],
    [
      'machine',
      `${process.platform} ${process.arch}, ${availableParallelism()} cores (${cpus()[0]?.model.trim() || 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB`,
    ],
    ['versions', `Node ${process.versions.node}, ${git}${peers.length === 0 ? '' : `; ${peers.join(', ')}`}`],
    ['environment', ownEnv ? 'the caller’s own' : 'clean'],
    ['load', `${load.map((value) => value.toFixed(1)).join(' at the start, ')} at the end`],
    ...(names.length === 0 ? [] : [['only', names.join(', ')]]),
    ...(QUICK ? [['quick', 'three rounds: to see that all of it runs, not to be quoted']] : []),
  ];
}

const FROM = '<!-- figures: written by npm run bench -->';
const TO = '<!-- /figures -->';

/** Throws when the page has no place for it, before anything is measured for it. */
export function checkPage(file) {
  const text = readFileSync(file, 'utf8');
  if (!text.includes(FROM) || text.indexOf(TO) < text.indexOf(FROM))
    throw new Error(`${file} has no place for the figures: ${FROM} … ${TO}`);
  return text;
}

/** Puts the table, and what it was measured on, into the page. */
export function writePage(file, facts, rows) {
  const text = checkPage(file);
  const said = facts.map(([name, value]) => `- ${name}: ${value}`).join('\n');
  const [before] = text.split(FROM);
  const after = text.slice(text.indexOf(TO));
  writeFileSync(file, `${before}${FROM}\n\n${said}\n\n${markdownTable(rows)}\n\n${after}`);
}
