import { resolve } from 'node:path';
import { type Call, command, type Group, given, REASON, reasonOf } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { oneLine, plural } from '../core/text.js';
import { type Allowed, type Scan, scanTree } from '../index.js';

type Timed = Scan & { duration_ms: number };

async function scan(call: Call, path?: string): Promise<Timed> {
  const { baseline } = call.options as { baseline?: string };
  const started = performance.now();
  const bar = call.progress('scanning');
  const input = {
    ...given<{ staged: true; range: string }>(call, 'staged', 'range'),
    ...(path === undefined ? {} : { path: resolve(call.cwd, path) }),
    ...(baseline === undefined ? {} : { baseline: resolve(call.cwd, baseline) }),
  };
  const result = await scanTree(call.cwd, call.world, input, { onProgress: bar.show, signal: call.signal });
  bar.end();
  return { ...result, duration_ms: Math.round(performance.now() - started) };
}

function render({ findings, known, scanned, skipped, duration_ms }: Timed, style: Style): string {
  const rows = findings.map(({ file, line, field, what, rule, fingerprint, commit }) => [
    style.bad('✗'),
    `${commit ? `${commit.slice(0, 10)} ` : ''}${oneLine(file)}:${line}${field === '' ? '' : ` ${oneLine(field)}`}`,
    what,
    style.dim(`${rule} ${fingerprint}`),
  ]);
  const counts = [
    `${plural(scanned, 'place')} in ${(duration_ms / 1000).toFixed(1)} s`,
    ...(skipped.length > 0 ? [`${plural(skipped.length, 'file')} too large to be read`] : []),
    ...(known > 0 ? [`${known} in the baseline`] : []),
  ];
  const details = style.dim(counts.join(', '));
  if (findings.length === 0) return `${style.good('✓')} nothing found  ${details}`;
  const allow = style.command(`forge guard allow ${findings[0]?.fingerprint} --reason "TEXT"`);
  return [
    columns(rows),
    `${plural(findings.length, 'finding')}  ${details}`,
    `A false alarm? ${allow}   ${style.dim('# for a person')}`,
  ].join('\n');
}

export const group: Group = [
  command<Timed>({
    name: 'scan',
    args: ['[path]'],
    summary: 'Scan files, staged changes or commits for secrets and personal data',
    example: 'forge guard scan --staged',
    options: [
      { flags: '--staged', help: 'the staged changes, as a pre-commit check' },
      { flags: '--range <range>', help: 'what the commits of A..B add, with their messages' },
      {
        flags: '--baseline <file>',
        help: 'the --json of an earlier scan: report only new findings',
        values: { paths: 'files' },
      },
    ],
    run: scan,
    render,
    exit: ({ findings }) => (findings.length > 0 ? 5 : 0),
  }),
  command<Allowed>({
    name: 'allow',
    args: ['<fingerprint>'],
    summary: 'For a person: let one exact text pass the guard from now on, in every clone',
    example: 'forge guard allow 3f9c2a1b7d8e4f60 --reason "a sample from our own docs"',
    options: [REASON],
    writes: true,
    run: (call, fingerprint = '') => call.forge().guard.allow({ fingerprint, ...reasonOf(call) }),
    render: ({ rule, fingerprint, audit }, style) =>
      `${style.good('✓')} ${fingerprint} (rule ${rule}) passes from now on  ${style.dim(`audit ${audit.id.slice(0, 12)}`)}`,
  }),
];
