import { resolve } from 'node:path';
import { type Call, command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { oneLine, plural } from '../core/text.js';
import { type Scan, scanTree } from '../index.js';

type Timed = Scan & { duration_ms: number };

async function scan(call: Call, path?: string): Promise<Timed> {
  const { staged, range, all } = call.options as { staged?: boolean; range?: string; all?: boolean };
  const started = performance.now();
  const bar = call.progress('scanning');
  const input = {
    ...(path === undefined ? {} : { path: resolve(call.cwd, path) }),
    ...(staged ? { staged } : {}),
    ...(range === undefined ? {} : { range }),
    ...(all ? { all } : {}),
  };
  const result = await scanTree(call.cwd, call.world, input, { onProgress: bar.show, signal: call.signal });
  bar.end();
  return { ...result, duration_ms: Math.round(performance.now() - started) };
}

function render({ findings, scanned, skipped, duration_ms }: Timed, style: Style): string {
  const rows = findings.map(({ file, line, field, what, rule, fingerprint, commit }) => [
    style.bad('✗'),
    `${commit ? `${commit.slice(0, 10)} ` : ''}${oneLine(file)}:${line}${field === '' ? '' : ` ${oneLine(field)}`}`,
    what,
    style.dim(`${rule} ${fingerprint}`),
  ]);
  const large = skipped.length > 0 ? `, ${plural(skipped.length, 'file')} too large to be read` : '';
  const took = style.dim(`${plural(scanned, 'place')} in ${(duration_ms / 1000).toFixed(1)} s${large}`);
  if (findings.length === 0) return `${style.good('✓')} nothing found  ${took}`;
  return [columns(rows), `${plural(findings.length, 'finding')}  ${took}`].join('\n');
}

export const group: Group = {
  commands: [
    command<Timed>({
      name: 'scan',
      args: ['[path]'],
      summary: 'Look for secrets and personal data in files, in what is staged, or in commits',
      example: 'forge guard scan --staged',
      options: [
        { flags: '--staged', help: 'what is staged: as a pre-commit check' },
        { flags: '--range <range>', help: 'what the commits of A..B add, their messages too' },
        { flags: '--all', help: 'e-mail, phone, IP and copyright lines in all files, not only in .forge/' },
      ],
      run: scan,
      render,
      exit: ({ findings }) => (findings.length > 0 ? 5 : 0),
    }),
  ],
};
