import { type Call, command, type Group, given, type OptionSpec } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { usage } from '../core/error.js';
import { escapeControls, oneLine, plural } from '../core/text.js';
import type { Finding, FindingStats, KnownAnswer } from '../index.js';

const ABOUT: readonly OptionSpec[] = [
  { flags: '--tool <name>', help: 'the tool, as the agent calls it: Read, Grep, Bash, fs:read, …' },
  { flags: '--query <text>', help: 'what it was asked: a path, a pattern or a command' },
];

function about({ cwd, options }: Call): { tool: string; query: string; cwd: string } {
  const { tool, query } = options as Record<string, unknown>;
  if (typeof tool === 'string' && typeof query === 'string') return { tool, query, cwd };
  throw usage('finding.about', `${tool === undefined ? '--tool' : '--query'} is missing.`, {
    hint: 'forge finding has --tool Read --query src/login.ts',
  });
}

const line = ({ tool, query, fact, filePath, success }: Finding, style: Style): string[] => [
  success ? tool : style.bad(`${tool} ✗`),
  style.strong(oneLine(filePath ?? query, 60)),
  oneLine(fact, 300),
];

const shown = ({ finding }: { finding: Finding }, style: Style): string => columns([line(finding, style)]);

export const group: Group = [
  command<{ finding: Finding }>({
    name: 'add',
    args: ['<fact>'],
    summary: 'Keep the result of a tool call',
    example: 'forge finding add "login() is on line 40" --tool Read --query src/login.ts',
    options: [...ABOUT, { flags: '--failed', help: 'the call did not work' }],
    writes: true,
    run: async (call, fact) =>
      call.forge().finding.add({
        ...about(call),
        fact: await call.text(fact as string),
        failed: call.options.failed === true,
      }),
    render: shown,
  }),
  command<{ finding: Finding }>({
    name: 'extract',
    args: ['[file]'],
    summary: "Find the fact in a tool's output, and keep it",
    example: 'forge finding extract --tool Read --query src/login.ts src/login.ts',
    options: [...ABOUT, { flags: '--exit-code <n>', help: 'how a command ended', number: [0, 255] }],
    writes: true,
    run: async (call, file = '-') =>
      call.forge().finding.extract({
        ...about(call),
        output: await call.file(file, { unscanned: true }),
        ...(call.options.exitCode === undefined ? {} : { exit: call.options.exitCode as number }),
      }),
    render: shown,
  }),
  command<{ session: string | null; findings: Finding[] }>({
    name: 'list',
    summary: 'List the results of this session, oldest first',
    example: 'forge finding list',
    run: (call) => call.forge().finding.list(),
    render: ({ findings }, style) =>
      findings.length === 0
        ? 'No findings yet in this session. To see which agents keep them: forge agent status'
        : columns(findings.map((finding) => line(finding, style))),
  }),
  command<KnownAnswer>({
    name: 'has',
    summary: 'Say whether a question was answered in this session, and still is',
    example: 'forge finding has --tool Read --query src/login.ts',
    options: ABOUT,
    run: (call) => call.forge().finding.has(about(call)),
    render: ({ known, fresh, finding, why }, style) =>
      [
        `${fresh ? style.good('known') : known ? style.warn('known, not fresh') : 'not known'}  ${why}`,
        ...(finding ? [columns([line(finding, style)], '  ')] : []),
      ].join('\n'),
    exit: ({ fresh }) => (fresh ? 0 : 1),
  }),
  command<{ count: number; formattedText: string; left: number }>({
    name: 'summary',
    summary: 'Show the findings as an agent gets them',
    example: 'forge finding summary --budget 300',
    options: [{ flags: '--budget <tokens>', help: 'the most tokens', number: [50, 100_000] }],
    run: (call) => call.forge().finding.summary(given<{ budget: number }>(call, 'budget')),
    render: ({ count, formattedText, left }) => {
      if (count + left === 0) return 'No findings yet.';
      const more = left > 0 ? [`… ${left} more: forge finding list`] : [];
      return [...(count > 0 ? [escapeControls(formattedText)] : []), ...more].join('\n');
    },
  }),
  command<FindingStats>({
    name: 'stats',
    summary: 'Count repeated questions in this session, and what they cost',
    example: 'forge finding stats',
    run: (call) => call.forge().finding.stats(),
    render: (value, style) =>
      columns(
        [
          ['calls that read', `${value.calls}`],
          ['repeats in the same words', `${value.exact_repeats}`],
          ['repeats in others', `${value.near_repeats}`],
          ['no longer true, asked again', `${value.stale}`],
          ['refused', `${value.avoided}`],
          ['tokens repeated', `≈ ${value.tokens_repeated}`],
          ['tokens saved', `≈ ${value.tokens_saved}`],
        ].map(([what = '', count = '']) => [what, style.strong(count)]),
      ),
  }),
  command<{ cleared: number }>({
    name: 'clear',
    summary: "Forget this session's findings",
    example: 'forge finding clear',
    writes: true,
    run: (call) => call.forge().finding.clear(),
    render: ({ cleared }) => `forgot ${plural(cleared, 'finding')}`,
  }),
];
