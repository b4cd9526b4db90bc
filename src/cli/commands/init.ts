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
  const result = await initForge(call.cwd, input, { world: call.world, dryRun: call.flags.dryRun });
  if (call.flags.dryRun) call.say('Dry run: nothing was written.');
  return result;
}

async function askStack(call: Call): Promise<string> {
  const { stack, stacks } = await inspectProject(call.cwd);
  const { choose } = await import('../prompt.js');
  return choose('Which stack should init.sh set up?', stacks, stack);
}

function render(result: InitResult, style: Style): string {
  const counts: [readonly string[], string][] = [
    [result.created, 'created'],
    [result.repaired, 'put back'],
    [result.kept, 'kept as they were'],
  ];
  const summary = counts
    .filter(([names]) => names.length > 0)
    .map(([names, word]) => `${names.length} ${word}`);
  return [
    ...gather(result.created).map((line) => `${style.good('created ')}  ${line}`),
    ...result.repaired.map((name) => `${style.warn('put back')}  ${name}`),
    ...result.skipped.map((reason) => `${style.dim('skipped ')}  ${reason}`),
    `${style.strong(result.root)}: ${summary.join(', ')}.`,
    '',
    'Next:',
    ...result.next.map((line) => `  ${style.command(line)}`),
  ].join('\n');
}

/** One line a folder of `.forge/`: forty file names tell a newcomer nothing (--json has them). */
function gather(names: readonly string[]): string[] {
  const places = new Map<string, number>();
  for (const name of names) {
    const [top = '', first = '', ...rest] = name.split('/');
    const place = rest.length > 0 ? `${top}/${first}/` : name;
    places.set(place, (places.get(place) ?? 0) + 1);
  }
  return [...places].map(([place, count]) =>
    place.endsWith('/') ? `${place} (${plural(count, 'file')})` : place,
  );
}

export const group: Group = {
  commands: [
    command<InitResult>({
      name: 'init',
      summary: 'Create the .forge/ folder, or put back what is missing; never overwrites',
      example: 'forge init --yes',
      options: [
        {
          flags: '--stack <name>',
          help: 'what init.sh sets up: node or none (default: by the files here)',
          values: { words: ['node', 'none'] },
        },
        { flags: '--name <name>', help: "the project's name (default: the folder's)" },
      ],
      writes: true,
      confirms: true,
      run,
      render,
    }),
  ],
};
