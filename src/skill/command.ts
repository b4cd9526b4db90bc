import { command, fromTop, type Group, given } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { firstNames, oneLine, plural } from '../core/text.js';
import type { ListedSkill, ShownSkill, SkillProblem } from '../index.js';

const row = ({ name, description, approved }: ListedSkill, style: Style): string[] => [
  style.strong(name),
  approved ? '' : style.warn('not approved'),
  oneLine(description, 120),
];

type Listed = { skills: ListedSkill[] };
type Written = { name: string; files: string[]; problems?: string[] };

const written = ({ name, files, problems = [] }: Written, style: Style, next: string): string =>
  [
    `${style.good('✓')} Skill ${style.strong(name)}: ${plural(files.length, 'file')}`,
    ...problems.map((problem) => `${style.warn('!')} ${problem}`),
    style.dim(`Next: ${next}`),
  ].join('\n');

export const group: Group = [
  command<Listed>({
    name: 'list',
    summary: 'List the skills of this project',
    example: 'forge skill list',
    run: (call) => call.forge().skill.list(),
    render: ({ skills }, style) =>
      skills.length === 0
        ? 'No skills. Make one with: forge skill new NAME'
        : columns(skills.map((skill) => row(skill, style))),
  }),
  command<ShownSkill>({
    name: 'show',
    args: ['<skill>'],
    summary: "Print a skill's instructions",
    example: 'forge skill show qa-review',
    run: (call, name) => call.forge().skill.show({ name: name as string }),
    render: ({ name, description, instructions, resources, order }, style) =>
      [
        `${style.strong(name)}  ${oneLine(description, 300)}`,
        ...(order.length > 1 ? [style.dim(`Then follow: ${order.slice(1).join(', ')}`)] : []),
        ...(resources.length > 0
          ? [style.dim(`Files (forge skill resource ${name} FILE): ${firstNames(resources, 20)}`)]
          : []),
        '',
        instructions.trimEnd(),
      ].join('\n'),
  }),
  command<{ text: string }>({
    name: 'resource',
    args: ['<skill>', '<file>'],
    summary: 'Print one file of a skill',
    example: 'forge skill resource qa-review checklists/review.md',
    run: (call, name, file) => call.forge().skill.resource({ name: name as string, file: file as string }),
    render: ({ text }) => text.trimEnd(),
  }),
  command<Written>({
    name: 'new',
    args: ['<name>'],
    summary: 'Make a skill to fill in',
    example: 'forge skill new release-notes --description "Write release notes from merged changes"',
    options: [{ flags: '--description <text>', help: 'what it does and when to use it, in one sentence' }],
    writes: true,
    run: (call, name) =>
      call
        .forge()
        .skill.new({ name: name as string, ...given<{ description: string }>(call, 'description') }),
    render: (made, style) =>
      written(
        made,
        style,
        `fill in .forge/skills/${made.name}/ and its triggers, then approve it: forge trust`,
      ),
  }),
  command<{ skills: string[]; problems: SkillProblem[] }>({
    name: 'check',
    args: ['[skill]'],
    summary: 'Check skills: fields, files, sizes, dependencies. Exit 1: problems',
    example: 'forge skill check',
    run: (call, name) => call.forge().skill.check(name === undefined ? {} : { name }),
    render: ({ skills, problems }, style) =>
      problems.length === 0
        ? `${style.good('✓')} ${plural(skills.length, 'skill')}, no problems`
        : columns(
            problems.map(({ skill, problem }) => [`${style.bad('✗')} ${style.strong(skill)}`, problem]),
          ),
    exit: ({ problems }) => (problems.length > 0 ? 1 : 0),
  }),
  command<Listed>({
    name: 'match',
    args: ['[text...]'],
    summary: 'Rank skills for the focus, or for a text',
    example: 'forge skill match "write a test for the parser" --file src/parser.ts',
    options: [
      { flags: '--file <path>', help: 'a file that the work is about', many: true },
      { flags: '--label <name>', help: 'a label of the issue', many: true },
      { flags: '--explain', help: 'show which triggers matched' },
    ],
    run: (call, ...words) => {
      const { file, label } = call.options as { file?: string[]; label?: string[] };
      return call.forge().skill.match({
        ...(words.length > 0 ? { text: words.join(' ') } : {}),
        ...(file ? { files: file.map((name) => fromTop(call, name)) } : {}),
        ...(label ? { labels: label } : {}),
      });
    },
    render: ({ skills }, style, { explain }) =>
      skills.length === 0
        ? 'No skill matches.'
        : columns(
            skills.map(({ name, score = 0, why = [], description, approved }) => [
              `${style.strong(name)}${approved ? '' : style.warn('  not approved')}`,
              String(score),
              explain ? why.join(', ') : oneLine(description, 100),
            ]),
          ),
  }),
  command<Written>({
    name: 'import',
    args: ['<folder>'],
    values: { folder: { paths: 'folders' } },
    summary: 'Take over a skill in the open SKILL.md format',
    example: 'forge skill import ~/Downloads/pdf-forms',
    writes: true,
    run: (call, folder) => call.forge().skill.import({ folder: folder as string, cwd: call.cwd }),
    render: (made, style) => written(made, style, `forge skill show ${made.name}`),
  }),
  command<{ name: string; folder: string; files: string[] }>({
    name: 'export',
    args: ['<skill>'],
    summary: 'Write a skill as SKILL.md, for agents that read that format',
    example: 'forge skill export qa-review --to claude',
    options: [
      {
        flags: '--to <place>',
        help: 'agents: .agents/skills (default); claude: .claude/skills; or a folder',
        values: { words: ['agents', 'claude'], paths: 'folders' },
      },
    ],
    writes: true,
    run: (call, name) =>
      call
        .forge()
        .skill.export({ name: name as string, cwd: call.cwd, ...given<{ to: string }>(call, 'to') }),
    render: ({ name, folder, files }, style) =>
      `${style.good('✓')} Skill ${style.strong(name)}: ${plural(files.length, 'file')} in ${folder}`,
  }),
];
