// npm run clients [-- --write]
// Plays every story of test/slow/clients in every client, and prints what was seen. --write puts the table into docs/agents.md.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const CACHE = new URL('../node_modules/.cache/clients/', import.meta.url);
const DOCS = new URL('../docs/agents.md', import.meta.url);
const [BEGIN, END] = ['<!-- clients: begin -->', '<!-- clients: end -->'];

const { status } = spawnSync('npx', ['vitest', 'run', 'test/slow/clients'], {
  env: { ...process.env, FORGE_SOAK: '1' },
  stdio: 'inherit',
});

const versions = Object.entries(JSON.parse(readFileSync(new URL('fetched.json', CACHE), 'utf8')));
const seen = readFileSync(new URL('seen.jsonl', CACHE), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
// Stories in the order of their file, then the measurements.
const told = readFileSync(new URL('../test/slow/clients/stories.ts', import.meta.url), 'utf8');
const stories = new Set([...told.matchAll(/^ {4}name: '(.*)',$/gm)].map(([, name]) => name));
for (const { story } of seen) stories.add(story);
const cell = (story, client) =>
  seen.findLast((one) => one.story === story && one.client === client)?.seen ?? 'no';
const table = [
  `| | ${versions.map(([name, spec]) => `${name} ${spec.replace(/.*@/, '')}`).join(' | ')} |`,
  `|---|${versions.map(() => '---').join('|')}|`,
  ...[...stories].map((story) => `| ${story} | ${versions.map(([name]) => cell(story, name)).join(' | ')} |`),
].join('\n');
process.stdout.write(`${table}\n`);

if (process.argv.includes('--write')) {
  const text = readFileSync(DOCS, 'utf8');
  const [before, after] = [text.slice(0, text.indexOf(BEGIN)), text.slice(text.indexOf(END))];
  writeFileSync(DOCS, `${before}${BEGIN}\n${table}\n${after}`);
}
process.exitCode = status ?? 1;
