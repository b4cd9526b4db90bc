import { command, type Group } from '../cli/spec.js';
import type { Undone } from '../index.js';
import { renderUndone } from '../recover/command.js';

export const group: Group = {
  commands: [
    command<Undone>({
      name: 'undo',
      args: ['[backup]'],
      summary: 'Take back the last recover, feature remove or session discard; again, to redo it',
      example: 'forge undo',
      writes: true,
      run: (call, backup) => call.forge().undo(backup === undefined ? {} : { backup }),
      render: renderUndone,
    }),
  ],
};
