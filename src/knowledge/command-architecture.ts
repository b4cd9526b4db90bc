import { command, type Group } from '../cli/spec.js';
import type { Style } from '../cli/style.js';
import { plural } from '../core/text.js';
import type { EditedArchitecture, ShownArchitecture } from '../index.js';

/** What of it agents are told. */
function fed({ invariants }: Pick<ShownArchitecture, 'invariants'>, style: Style): string {
  if (invariants.length > 0) return `${plural(invariants.length, 'invariant')} for every briefing`;
  return style.warn('nothing for the briefing: no list below a heading "Invariants"');
}

export const group: Group = {
  commands: [
    command<ShownArchitecture>({
      name: 'show',
      summary: 'Show architecture.md; the list below its heading "Invariants" is part of every briefing',
      example: 'forge architecture show',
      run: (call) => call.forge().architecture.show(),
      render: (shown, style) =>
        `${shown.text.trimEnd()}\n\n${style.dim(`${shown.path}: ${plural(shown.sections.length, 'section')},`)} ${fed(shown, style)}`,
    }),
    command<EditedArchitecture>({
      name: 'edit',
      args: ['[file]'],
      summary: "Edit architecture.md in git's editor, or replace it by a file, or by stdin (-)",
      example: 'forge architecture edit',
      writes: true,
      run: async (call, file) =>
        call.forge().architecture.edit(file === undefined ? {} : { text: await call.file(file) }),
      render: (edited, style) =>
        edited.changed
          ? `${style.good('✓')} ${edited.path}  ${fed(edited, style)}`
          : `${edited.path} is as it was`,
    }),
  ],
};
