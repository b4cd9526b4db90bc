import { type Call, command, type Group } from '../cli/spec.js';
import type { Style } from '../cli/style.js';
import { ForgeError } from '../core/error.js';
import { escapeControls } from '../core/text.js';
import type { TrustItem, TrustReport } from '../index.js';
import { diffLines } from './rules.js';

async function run(call: Call): Promise<TrustReport> {
  const { trust } = call.forge();
  if (call.options.revoke === true) return trust.revoke();
  const report = await trust.show();
  if (call.options.show === true || call.flags.dryRun || report.trusted) return report;
  call.say(render(report, call.style));
  if (!call.flags.yes && call.world.terminal && !call.interactive)
    throw new ForgeError('refused', 'trust.unconfirmed', 'Nothing was approved: nobody was asked.', {
      hint: 'forge trust   or, having read it: forge trust --yes',
    });
  if (call.interactive && !(await confirmed(report)))
    throw new ForgeError('refused', 'trust.declined', 'Nothing was approved.', { hint: 'forge trust' });
  return trust.approve({ digest: report.digest });
}

async function confirmed({ items }: TrustReport): Promise<boolean> {
  const { confirm } = await import('../cli/prompt.js');
  const open = items.filter(({ state }) => state !== 'trusted').length;
  return confirm(`Let forge run ${open === 1 ? 'this' : `these ${open}`} on this machine?`);
}

const STATE_WORDS = { trusted: 'approved', changed: 'changed since it was approved', new: 'not approved' };

function render({ items, digest, trusted }: TrustReport, style: Style): string {
  if (items.length === 0) return 'Nothing here would be run by forge.';
  const blocks = items.map((item) => renderItem(item, style));
  const state = trusted
    ? style.good('All of it is approved.')
    : style.warn('Not all of it is approved: forge trust');
  return `${blocks.join('\n')}\n\n${state}\nFORGE_TRUST=${digest}`;
}

/** In full: what is approved has to be read. Escapes are shown, never obeyed. */
function renderItem(item: TrustItem, style: Style): string {
  const state =
    item.state === 'trusted' ? style.good(STATE_WORDS.trusted) : style.warn(STATE_WORDS[item.state]);
  const lines =
    item.before === undefined
      ? item.content.replace(/\n$/, '').split('\n')
      : diffLines(item.before, item.content);
  const shown = item.state === 'trusted' && item.kind === 'file' ? [] : lines;
  return [
    `${style.strong(escapeControls(item.name))}  ${state}`,
    ...shown.map((line) => `  ${escapeControls(line)}`),
  ].join('\n');
}

export const group: Group = {
  commands: [
    command<TrustReport>({
      name: 'trust',
      summary: 'Show what this repository would run, and approve these very bytes (a person, at a terminal)',
      example: 'forge trust --show',
      options: [
        { flags: '--show', help: 'show only' },
        { flags: '--revoke', help: 'take back every approval for this repository' },
      ],
      writes: true,
      confirms: true,
      run,
      render,
    }),
  ],
};
