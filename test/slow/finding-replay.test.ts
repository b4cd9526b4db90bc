import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { agentWorld, openForge, systemWorld } from '../../src/index.js';
import { makeForge } from '../support/forge-project.js';
import type { Project } from '../support/project.js';

type Call = { tool: string; input: Record<string, unknown>; expect: 'new' | 'exact' | 'near' };
type Event = Call | { write: string; text: string } | { shell: string } | { compact: true };

const TRACES = new URL('../finding/traces/', import.meta.url);
const wait = (): unknown => spawnSync('sleep', ['0.05']);

const context = (input: Record<string, unknown>): string =>
  ['-A', '-B', '-C'].flatMap((name) => (name in input ? [name, input[name]] : [])).join(' ');

/** What the tool would say. Without ripgrep, grep says the same. */
function run({ dir }: Project, { tool, input }: Call): { output: string; exit: number } {
  const words = input.command;
  const range = `${input.offset ?? 1},${Number(input.offset ?? 1) + Number(input.limit ?? 2000) - 1}p`;
  const line =
    tool === 'Read'
      ? `sed -n '${range}' '${input.file_path}'`
      : tool === 'Grep'
        ? `grep -rn${input['-i'] ? 'i' : ''} ${context(input)} --exclude-dir=.git --exclude-dir=.forge '${input.pattern}' ${input.path ?? '.'}`
        : String(Array.isArray(words) ? words.at(-1) : words).replace(/(^|&& )rg /, '$1grep -rE ');
  const { stdout, status } = spawnSync('/bin/sh', ['-c', line], { cwd: dir, encoding: 'utf8' });
  return { output: stdout, exit: status ?? 1 };
}

interface Result {
  exact: number;
  near: number;
  missed: string[];
  wrong: string[];
}

/** Replays a trace as hooks would see it: forge is asked before each call, and told afterwards. */
async function replay(name: string): Promise<{ result: Result; asked: { exact: number; near: number } }> {
  const text = readFileSync(new URL(name, TRACES), 'utf8');
  const project = await makeForge();
  const { files, calls } = JSON.parse(text.replaceAll('$/', `${project.dir}/`)) as {
    files: Record<string, string>;
    calls: Event[];
  };
  for (const [path, content] of Object.entries(files)) project.write(path, content);
  const forge = openForge(project.dir, { world: agentWorld(systemWorld(process.env, false), 'claude-x') });
  const result: Result = { exact: 0, near: 0, missed: [], wrong: [] };
  const asked = { exact: 0, near: 0 };
  wait();
  for (const event of calls) {
    if ('write' in event) project.write(event.write, event.text);
    else if ('shell' in event) spawnSync('/bin/sh', ['-c', event.shell], { cwd: project.dir });
    else if ('compact' in event) await forge.agent.compacts('claude-x');
    else {
      const { tool, input } = event;
      const at = Date.now();
      const said = await forge.agent.repeats('claude-x', { tool, input, cwd: project.dir });
      const what = JSON.stringify(input);
      if (event.expect === 'new' && said) result.wrong.push(`${what}: ${said.text}`);
      if (event.expect !== 'new') {
        asked[event.expect]++;
        if (said) result[event.expect]++;
        else result.missed.push(what);
      }
      await forge.agent.saw('claude-x', [{ tool, input, at, cwd: project.dir, ...run(project, event) }]);
    }
    wait();
  }
  return { result, asked };
}

describe('recorded tool calls', () => {
  it.each(readdirSync(TRACES))('EXM-03 %s: repeats are found, and no claim is false', async (name) => {
    const { result, asked } = await replay(name);
    process.stdout.write(
      `${name}: exact ${result.exact} of ${asked.exact}, near ${result.near} of ${asked.near}, wrongly claimed ${result.wrong.length}; missed: ${result.missed.join(' ')}\n`,
    );
    expect(result.wrong).toEqual([]);
    expect(result.exact / asked.exact).toBeGreaterThanOrEqual(0.9);
    expect(result.near / asked.near).toBeGreaterThanOrEqual(0.6);
  });
});
