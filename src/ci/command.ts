import { resolve } from 'node:path';
import { type Call, command, type Group } from '../cli/spec.js';
import { usage } from '../core/error.js';
import { oneLine } from '../core/text.js';
import { type CiReport, type CiWatch, ciTemplate } from '../index.js';
import { defuse, formatCheck, formatEnd } from './log.js';
import { CI_FORMATS, ciExit, ciFormat } from './rules.js';

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
    const system = oneOf(SYSTEMS, '--template', template);
    return { template: system, text: await ciTemplate(system) };
  }
  const form = format === undefined ? ciFormat(call.world.env) : oneOf(CI_FORMATS, '--format', format);
  const bar = call.progress('checking');
  const watch: CiWatch = {
    onProgress: bar.show,
    // Each as soon as it is known: a pipeline may take long, and may be cut off.
    onCheck: (check) => {
      bar.end();
      if (!call.flags.json) call.print(formatCheck(check, form));
    },
    onStart: (id, line) => call.say(defuse(`${oneLine(id)}: ${oneLine(line)}`)),
    signal: call.signal,
  };
  const input = {
    ...(range === undefined ? {} : { range }),
    ...(runs ? { run: true } : {}),
    ...(baseline === undefined ? {} : { baseline: resolve(call.cwd, baseline) }),
    ...(junit === undefined ? {} : { junit: resolve(call.cwd, junit) }),
  };
  return call.forge().ci(input, watch);
}

function oneOf<T extends string>(allowed: readonly T[], flag: string, found: string): T {
  const known = allowed.find((word) => word === found);
  if (known !== undefined) return known;
  const said = JSON.stringify(oneLine(found, 40));
  throw usage('ci.option', `${flag}: found ${said}, allowed: ${allowed.join(' | ')}.`, {
    field: flag.slice(2),
  });
}

export const group: Group = {
  commands: [
    command<CiReport | Template>({
      name: 'ci',
      summary:
        'Check commits, memory, secrets, features and checkpoints in a pipeline; an exit code per cause',
      example: 'forge ci --range origin/main..HEAD',
      options: [
        { flags: '--range <range>', help: "the commits of A..B; default: what the CI's variables say" },
        { flags: '--run', help: 'run the tests of passing features, where they are trusted (FORGE_TRUST)' },
        {
          flags: '--format <format>',
          help: 'github, gitlab or plain; default: where it runs',
          values: { words: CI_FORMATS },
        },
        {
          flags: '--baseline <file>',
          help: 'the --json of an earlier forge guard scan: report only what it does not have',
          values: { paths: 'files' },
        },
        { flags: '--junit <file>', help: "write a report as JUnit's XML" },
        { flags: '--template <system>', help: 'print a pipeline for github or gitlab, and check nothing' },
      ],
      run,
      render: (value) => ('text' in value ? value.text : formatEnd(value)),
      exit: (value) => ('text' in value ? 0 : ciExit(value)),
    }),
  ],
};
