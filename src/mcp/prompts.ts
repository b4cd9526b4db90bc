import { invalidParams } from './errors.js';
import type { Host } from './host.js';

export const PROMPTS = [
  {
    name: 'session_start',
    title: 'Start a session',
    description: 'Pick up the work where it stands',
    arguments: [{ name: 'goal', description: 'The task, instead of the next one', required: false }],
  },
  {
    name: 'session_end',
    title: 'End the session',
    description: 'Settle what is open, and hand over',
  },
];

type Prompt = { messages: { role: 'user'; content: { type: 'text'; text: string } }[] };

const say = (text: string): Prompt => ({ messages: [{ role: 'user', content: { type: 'text', text } }] });

/** Prompts change nothing: they say which tools to call, and how things stand. */
export async function writePrompt(
  host: Host,
  name: string,
  { goal }: Record<string, string>,
): Promise<Prompt> {
  if (name === 'session_start') {
    const { text } = await host.open().briefing();
    const wanted = goal === undefined ? '' : ` with the goal ${JSON.stringify(goal)}`;
    return say(`Call session_start${wanted}, then go on from here.\n\n${text}`);
  }
  if (name === 'session_end') {
    const { text } = await host.open().kfr.inject();
    return say(
      [
        'End this session: resolve or dismiss what requires resolution, promote what stays relevant (session_note_promote), then call session_end with what was learned and what comes next.',
        ...(text === null ? [] : [text]),
      ].join('\n\n'),
    );
  }
  throw invalidParams('There is no such prompt; prompts/list names them.');
}
