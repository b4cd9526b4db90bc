import { type Call, type CommandSpec, command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { oneLine } from '../core/text.js';
import type { Focus, FocusInput } from '../index.js';

function render(focus: Focus & { skill_why?: string[] }, style: Style): string {
  if (focus.task === null && !focus.linear_issue && focus.files.length === 0) return 'No task is set.';
  const rows = [
    ['task', focus.task],
    ['issue', focus.linear_issue],
    ['phase', focus.phase],
    [
      'skill',
      focus.skill ? (focus.skill_why ? `${focus.skill} (${focus.skill_why.join(', ')})` : focus.skill) : null,
    ],
    ['files', focus.files.join(', ') || null],
    ['blockers', focus.blockers.join('; ') || null],
    ['since', focus.started_at],
  ].filter((row): row is [string, string] => row[1] !== null);
  return columns(
    rows.map(([name, value]) => [
      name,
      name === 'task' ? style.strong(oneLine(value, 400)) : oneLine(value, 400),
    ]),
  );
}

/** `none` clears an id. */
const idOrNone = (word: unknown): string | null | undefined =>
  word === 'none' ? null : (word as string | undefined);

async function change(call: Call): Promise<FocusInput> {
  const { task, file, phase, blocker, issue, skill } = call.options as Record<string, string & string[]>;
  return {
    task: task === undefined ? undefined : await call.text(task),
    issue: idOrNone(issue),
    files: file,
    phase,
    blockers: blocker,
    skill: idOrNone(skill),
  } as FocusInput;
}

const set: CommandSpec<Focus> = {
  name: 'set',
  summary: 'Set what is worked on; another task starts with empty files and blockers',
  example: 'forge focus set --task "F-2: logout" --file src/logout.ts --phase BUILD',
  options: [
    { flags: '--task <text>', help: 'the task' },
    {
      flags: '--issue <id>',
      help: 'the issue; none clears it',
      values: { words: ['none'], live: ['issue'] },
    },
    { flags: '--file <path>', help: 'a file it is about', many: true },
    {
      flags: '--phase <name>',
      help: 'where in the work (PLAN, BUILD, …)',
      values: { words: ['PLAN', 'BUILD', 'TEST', 'REVIEW'] },
    },
    { flags: '--blocker <text>', help: 'what stands in the way', many: true },
    {
      flags: '--skill <name>',
      help: 'the active skill; none clears it',
      values: { words: ['none'] },
    },
  ],
  writes: true,
  run: async (call) => call.forge().focus.set(await change(call)),
  render,
};

export const group: Group = {
  commands: [
    command<Focus>({
      name: 'show',
      summary: 'Show the focus',
      example: 'forge focus show',
      run: (call) => call.forge().focus.show(),
      render,
    }),
    command(set),
    command<Focus>({
      name: 'clear',
      summary: 'Clear the focus',
      example: 'forge focus clear',
      writes: true,
      run: (call) => call.forge().focus.clear(),
      render,
    }),
  ],
};
