import { type Call, command, type Group } from '../cli/spec.js';
import { columns, type Style } from '../cli/style.js';
import { ForgeError } from '../core/error.js';
import { harmless, jsonLine } from '../core/text.js';
import { openForge, type Status, type Where } from '../index.js';
import { factsOf, renderShort, renderStatus } from '../status/command.js';
import { watchMemory } from './live.js';

interface Panel {
  where: Where;
  status: Status;
}

/** ms: ages grow. */
const MINUTE = 60_000;
/** Another screen, back to the first one, and an empty screen. */
const [ENTER, LEAVE, CLEAR] = ['\u001b[?1049h', '\u001b[?1049l', '\u001b[H\u001b[2J'];

async function readPanel({ cwd, world }: Call): Promise<Panel> {
  const forge = openForge(cwd, { world, dryRun: true });
  const status = await forge.status();
  const where = await forge.where({ status });
  return harmless({ where, status });
}

function renderPanel({ where, status }: Panel, style: Style): string {
  const facts = factsOf(where, where.root ?? '', style)
    .filter(([name, value]) => value !== null && name !== 'Health')
    .map(([name, value]) => [style.strong(name), value ?? '']);
  return [
    columns(facts),
    '',
    renderStatus(status, style),
    '',
    style.dim('Changes show by themselves. Ctrl-C ends.'),
  ].join('\n');
}

/** At a terminal, redraws one panel. Elsewhere, prints one line per change. */
async function watch(call: Call): Promise<void> {
  const { flags, style, world } = call;
  const { places } = openForge(call.cwd, { world, dryRun: true });
  const { send } = await call.channel();
  const isLive = style.width !== null && !flags.json && world.env.TERM !== 'dumb';
  let shown = '';
  const draw = async (): Promise<void> => {
    try {
      const panel = await readPanel(call);
      if (isLive) shown = call.onScreen(renderPanel(panel, style), true);
      else if (flags.json) send(`${jsonLine({ at: world.now().toISOString(), ...panel.status })}\n`);
      else send(`${world.now().toISOString()}  ${renderShort(panel.status, style)}\n`);
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
      shown = call.onScreen(`${style.bad(error.message)}\n${error.hint ?? ''}`, true);
      if (!isLive) call.say(error.message);
    }
    if (isLive) send(`${CLEAR}${shown}\n`);
  };
  // One after the other: a slow one must not overwrite a later one.
  let turn = draw();
  const again = (): void => {
    turn = turn.then(draw);
  };
  if (isLive) send(ENTER);
  const live = watchMemory(places, again);
  const timer = isLive ? setInterval(again, MINUTE) : undefined;
  await new Promise<void>((done) => {
    call.stops(() => {}).finish.addEventListener('abort', () => done(), { once: true });
  });
  clearInterval(timer);
  live.close();
  await turn;
  if (isLive) send(`${LEAVE}${shown}\n`);
}

export const group: Group = {
  commands: [
    command<void>({
      name: 'watch',
      summary: 'Show where the work stands and memory health, live. Ctrl-C ends it',
      example: 'forge watch',
      run: watch,
      render: () => '',
    }),
  ],
};
