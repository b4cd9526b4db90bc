import { type Call, type CommandSpec, command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { oneLine } from '../core/text.js';
import type { Focus, FocusInput } from '../index.js';

function render(focus: Focus & { skill_why?: string[] }, style: Style): string {
  const { task, linear_issue, phase, skill, skill_why, files, blockers, started_at } = focus;
  if (task === null && !linear_issue && files.length === 0) return 'No task is set.';
  const rows: [name: string, value: string | null | undefined][] = [
    ['task', task && style.strong(oneLine(task, 400))],
    ['issue', linear_issue],
    ['phase', phase],
    ['skill', skill && skill_why ? `${skill} (${skill_why.join(', ')})` : skill],
    ['files', files.join(', ')],
    ['blockers', blockers.join('; ')],
    ['since', started_at],
  ];
  return columns(
    rows.flatMap(([name, value]) => (value ? [[name, name === 'task' ? value : oneLine(value, 400)]] : [])),
  );
}

async function change(call: Call): Promise<FocusInput> {
  const { task, file, phase, blocker, issue, skill } = call.options as Record<string, string & string[]>;
  return {
    task: task === undefined ? undefined : await call.text(task),
    issue: issue === 'none' ? null : issue,
    files: file,
    phase,
    blockers: blocker,
    skill: skill === 'none' ? null : skill,
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
