import { type CommandSpec, command, type Group } from '../cli/spec.js';
import type { Style } from '../cli/style.js';
import { escapeControls } from '../core/text.js';
import type { SessionDetail, ShownProgress } from '../index.js';

/** The time of a line without a date: local at a terminal, UTC elsewhere. */
const clock = (style: Style, date: string | null, time: string): string =>
  style.stamp(`${date}T${time}:00.000Z`).slice(11);

export const logLines = ({ date, lines }: Pick<SessionDetail['progress'], 'date' | 'lines'>, style: Style) =>
  lines.map(
    ({ time, text }) =>
      `${style.dim(`[${clock(style, date, time)}]`)} ${escapeControls(text).replaceAll('\n', '\n        ')}`,
  );

const showLog = (log: ShownProgress, style: Style): string =>
  [
    style.strong(`Session ${log.session}`),
    ...logLines(log, style),
    ...(log.next === undefined ? [] : ['', `${style.strong('NEXT:')} ${escapeControls(log.next)}`]),
  ].join('\n');

const add: CommandSpec<{ line: string } | ShownProgress> = {
  name: 'add',
  args: ['[text]'],
  summary: "Add a line to the session's log; without a text, show the log",
  example: 'forge log "wired the form"',
  options: [{ flags: '--checkpoint', help: 'mark it as a CHECKPOINT line' }],
  writes: true,
  run: async (call, text?: string) => {
    const { progress } = call.forge();
    if (text === undefined) return progress.show();
    return progress.add({ text: await call.text(text), checkpoint: call.options.checkpoint === true });
  },
  render: (value, style) => {
    if ('lines' in value) return showLog(value, style);
    const { line } = value;
    const [, time = '', text = ''] = /^\[(.{5})\](.*)$/s.exec(line) ?? [];
    return escapeControls(`[${clock(style, new Date().toISOString().slice(0, 10), time)}]${text}`);
  },
};

const next: CommandSpec<{ line: string }> = {
  name: 'next',
  args: ['<text>'],
  summary: 'Set the NEXT line, which the next session is told',
  example: 'forge progress next "wire the logout button"',
  writes: true,
  run: async (call, text) => call.forge().progress.next({ text: await call.text(text as string) }),
  render: ({ line }) => escapeControls(line),
};

const show: CommandSpec<ShownProgress> = {
  name: 'show',
  summary: "Show the running session's log",
  example: 'forge progress show',
  run: (call) => call.forge().progress.show(),
  render: showLog,
};

export const group: Group = { commands: [command(add), command(next), command(show)] };
