import { command, type Group, given } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { plural } from '../core/text.js';
import type { Artifact, ArtifactProblem } from '../index.js';

const TYPES = ['code', 'docs', 'reports'];

const row = ({ id, type, at, session, issue }: Artifact, style: Style): string[] => [
  style.strong(id),
  type,
  style.dim(style.time(at)),
  style.dim([issue, session].filter(Boolean).join('  ')),
];

export const group: Group = [
  command<Artifact>({
    name: 'add',
    args: ['<file>'],
    summary: 'Keep a copy of an output, with the session, skill and issue it came from',
    example: 'forge artifact add qa-report.json --type reports',
    options: [
      { flags: '--type <type>', help: 'code, docs or reports', values: { words: TYPES } },
      { flags: '--name <name>', help: "another name than the file's" },
    ],
    writes: true,
    run: (call, file) => {
      const { type = 'docs' } = call.options as { type?: 'docs' };
      const name = given<{ name: string }>(call, 'name');
      return call.forge().artifact.add({ file: file as string, type, cwd: call.cwd, ...name });
    },
    render: ({ path, triv }, style) => `${style.good('✓')} ${path}\n${style.dim(triv)}`,
  }),
  command<{ artifacts: Artifact[] }>({
    name: 'list',
    summary: 'List artifacts, newest first',
    example: 'forge artifact list',
    run: (call) => call.forge().artifact.list(),
    render: ({ artifacts }, style) =>
      artifacts.length === 0
        ? 'No artifacts yet. Add one with: forge artifact add FILE --type docs'
        : columns(artifacts.map((artifact) => row(artifact, style))),
  }),
  command<Artifact & { intact: boolean }>({
    name: 'show',
    args: ['<id>'],
    summary: 'Show one artifact',
    example: 'forge artifact show qa-report.json',
    run: (call, id) => call.forge().artifact.show({ id: id as string }),
    render: ({ path, type, triv, sha256, bytes, at, session, skill, issue, intact }, style) =>
      columns(
        [
          ['path', path],
          ['type', type],
          ['triv', triv],
          ['sha256', sha256],
          ['bytes', String(bytes)],
          ['added', at],
          ['session', session ?? 'none'],
          ['skill', skill ?? 'none'],
          ['issue', issue ?? 'none'],
          ['content', intact ? style.good('as it was added') : style.bad('changed or missing')],
        ].map(([name = '', value = '']) => [style.dim(name), value]),
      ),
    exit: ({ intact }) => (intact ? 0 : 1),
  }),
  command<{ verified: number; problems: ArtifactProblem[] }>({
    name: 'verify',
    summary: 'Compare every artifact with its hashes. Exit 1: one does not match',
    example: 'forge artifact verify',
    run: (call) => call.forge().artifact.verify(),
    render: ({ verified, problems }, style) =>
      [
        ...(problems.length === 0
          ? [`${style.good('✓')} ${plural(verified, 'artifact')}, all as added`]
          : []),
        ...problems.map(({ path, problem }) => `${style.bad('✗')} ${path}: ${problem}`),
        ...(problems.length > 0
          ? ['  → git restore FILE, or add it again: forge artifact add FILE --type TYPE']
          : []),
      ].join('\n'),
    exit: ({ problems }) => (problems.length > 0 ? 1 : 0),
  }),
];
