import { command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { oneLine } from '../core/text.js';
import type { Note, Observed } from '../index.js';
import { describeObserved } from '../project/project.js';

const row = ({ id, at, text, by }: Note, style: Style): string[] => [
  style.dim(id.slice(0, 12)),
  style.dim(style.time(at)),
  oneLine(by === undefined ? text : `${text} (by an agent)`, 200),
];

export const group: Group = {
  commands: [
    command<Note | Observed>({
      name: 'add',
      args: ['<text>'],
      summary: 'Keep a note for good, in the ledger',
      example: 'forge note add "The staging database is rebuilt every Monday"',
      writes: true,
      run: async (call, text) => call.forge().note.add({ text: await call.text(text as string) }),
      render: (note, style) =>
        'observed' in note ? describeObserved(note.observed) : columns([row(note, style)]),
    }),
    command<Note | Observed>({
      name: 'promote',
      args: ['<kfr-id>'],
      summary: 'Turn an entry of working memory into a note for good',
      example: 'forge note promote kfr-3',
      writes: true,
      run: (call, id) => call.forge().note.promote({ id: id as string }),
      render: (note, style) => {
        if ('observed' in note) return describeObserved(note.observed);
        const { id, from, text } = note;
        return `${style.good('✓')} ${from} is the note ${style.strong(id.slice(0, 12))} now: ${oneLine(text, 200)}`;
      },
    }),
    command<{ notes: Note[] }>({
      name: 'list',
      summary: 'List all notes, oldest first',
      example: 'forge note list',
      run: (call) => call.forge().note.list(),
      render: ({ notes }, style) =>
        notes.length === 0
          ? 'No notes yet. Add one with: forge note add "TEXT"'
          : columns(notes.map((note) => row(note, style))),
    }),
    command<Note>({
      name: 'show',
      args: ['<id>'],
      summary: 'Show one note whole',
      example: 'forge note show 3fa9c1d2',
      run: (call, id) => call.forge().note.show({ id: id as string }),
      render: ({ id, at, session, text, by }, style) =>
        `${style.dim(`${id}  ${at}  ${session ?? 'no session'}${by === undefined ? '' : '  by an agent'}`)}\n${text}`,
    }),
  ],
};
