import { resolve } from 'node:path';
import { type Call, command, type Group } from '../cli/spec.js';
import { outside } from '../core/error.js';
import { replaceFiles } from '../core/files.js';
import { oneLine, oneOf } from '../core/text.js';
import { type CiReport, type CiWatch, ciTemplate } from '../index.js';
import { CI_FORMATS, ciExit, ciFormat, defuse, formatCheck, formatJunit, formatSummary } from './report.js';

const SYSTEMS = ['github', 'gitlab'] as const;

interface Template {
  template: (typeof SYSTEMS)[number];
  text: string;
}

interface Flags {
  range?: string;
  run?: boolean;
  format?: string;
  junit?: string;
  baseline?: string;
  template?: string;
}

async function run(call: Call): Promise<CiReport | Template> {
  const { range, run: runs, format, junit, baseline, template } = call.options as Flags;
  if (template !== undefined) {
    const system = oneOf(SYSTEMS, template, '--template', 'ci.option');
    return { template: system, text: await ciTemplate(system) };
  }
  const form =
    format === undefined ? ciFormat(call.world.env) : oneOf(CI_FORMATS, format, '--format', 'ci.option');
  const bar = call.progress('checking');
  const watch: CiWatch = {
    onProgress: bar.show,
    // Printed at once, because a pipeline may be cut off.
    onCheck: (check) => {
      bar.end();
      if (!call.flags.json) call.print(formatCheck(check, form));
    },
    onStart: (id, line) => call.say(defuse(`${oneLine(id)}: ${oneLine(line)}`)),
    signal: call.signal,
  };
  const input = {
    range,
    run: runs,
    baseline: baseline === undefined ? baseline : resolve(call.cwd, baseline),
  };
  const report = await call.forge().ci(input, watch);
  if (junit !== undefined) writeJunit(resolve(call.cwd, junit), report);
  return report;
}

function writeJunit(path: string, report: CiReport): void {
  try {
    replaceFiles([{ path, bytes: Buffer.from(formatJunit(report)) }]);
  } catch (cause) {
    const message = `The report could not be written: ${(cause as Error).message}`;
    throw outside('ci.junit', message, { file: path, cause });
  }
}

export const group: Group = [
  command<CiReport | Template>({
    name: 'ci',
    summary: 'Check commits, memory, secrets, features and checkpoints in a pipeline; an exit code per cause',
    example: 'forge ci --range origin/main..HEAD',
    options: [
      { flags: '--range <range>', help: "the commits of A..B (default: the range of the CI's variables)" },
      {
        flags: '--run',
        help: 'run the tests of passing features if they are trusted (where CI is set: by FORGE_TRUST)',
      },
      {
        flags: '--format <format>',
        help: 'github, gitlab or plain (default: the system that runs it)',
        values: { words: CI_FORMATS },
      },
      {
        flags: '--baseline <file>',
        help: 'an earlier forge guard scan --json; its findings are not reported again',
        values: { paths: 'files' },
      },
      { flags: '--junit <file>', help: "write a report as JUnit's XML" },
      { flags: '--template <system>', help: 'print a pipeline for github or gitlab, and check nothing' },
    ],
    run,
    render: (value) => ('text' in value ? value.text : formatSummary(value)),
    exit: (value) => ('text' in value ? 0 : ciExit(value)),
  }),
];
