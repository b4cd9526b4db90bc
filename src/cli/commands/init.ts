import { plural } from '../../domain/text.js';
import { type InitInput, type InitResult, initForge, inspectProject } from '../../index.js';
import { type Call, command, type Group } from '../spec.js';
import type { Style } from '../style.js';

async function run(call: Call): Promise<InitResult> {
  const input: InitInput = {
    stack: call.options.stack as string | undefined,
    name: call.options.name as string | undefined,
  };
  if (call.interactive && input.stack === undefined) input.stack = await askStack(call);
  return initForge(call.cwd, input, { world: call.world, dryRun: call.flags.dryRun });
}

async function askStack(call: Call): Promise<string> {
  const { stack, stacks } = await inspectProject(call.cwd);
  const { choose } = await import('../prompt.js');
  return choose('Which stack should init.sh set up?', stacks, stack);
}

function render(result: InitResult, style: Style): string {
  const list = (title: string, names: readonly string[], paint: (text: string) => string): string[] =>
    names.map((name) => `${paint(title.padEnd(9))} ${name}`);
  const summary = [
    [result.created, 'created'],
    [result.repaired, 'put back'],
    [result.kept, 'kept as it was'],
  ] as const;
  const counts = summary
    .filter(([names]) => names.length > 0)
    .map(([names, word]) => `${names.length} ${word}`);
  return [
    ...list('created', result.created, style.good),
    ...list('put back', result.repaired, style.warn),
    ...list('skipped', result.skipped, style.dim),
    `${style.strong(result.root)}: ${counts.join(', ') || plural(0, 'file')}.`,
    '',
    'Next:',
    ...result.next.map((line) => `  ${style.command(line)}`),
  ].join('\n');
}

export const group: Group = {
  commands: [
    command<InitResult>({
      name: 'init',
      summary: 'Create the .forge/ folder, or put back what is missing; never overwrites',
      example: 'forge init --yes',
      options: [
        { flags: '--stack <name>', help: 'what init.sh sets up: node or none (default: by the files here)' },
        { flags: '--name <name>', help: "the project's name (default: the folder's)" },
      ],
      writes: true,
      confirms: true,
      run,
      render,
    }),
  ],
};
