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
    throw new ForgeError(
      'refused',
      'trust.unconfirmed',
      'Nothing was approved: a person has to confirm at a terminal.',
      {
        hint: 'forge trust --show\nforge trust --yes   # having read it',
      },
    );
  if (call.interactive && !(await confirmed(report)))
    throw new ForgeError('refused', 'trust.declined', 'Nothing was approved.', { hint: 'forge trust' });
  const rules = report.items.filter(({ kind }) => kind === 'rule').map(({ digest }) => digest);
  return trust.approve({ digest: report.digest, rules });
}

async function confirmed({ items }: TrustReport): Promise<boolean> {
  const { confirm } = await import('../cli/prompt.js');
  const open = items.filter(({ state }) => state !== 'trusted');
  const rules = open.filter(({ kind }) => kind === 'rule').length;
  const runs = open.length - rules;
  const obey =
    rules === 0 ? '' : `tell agents to obey ${rules === 1 ? 'this invariant' : `these ${rules} invariants`}`;
  const run = runs === 0 ? '' : `let forge run ${runs === 1 ? 'this' : `these ${runs}`} on this machine`;
  const what = [run, obey].filter(Boolean).join(', and ');
  return confirm(`${what[0]?.toUpperCase()}${what.slice(1)}?`);
}

const STATE_WORDS = { trusted: 'approved', changed: 'changed since it was approved', new: 'not approved' };

function render({ items, digest, trusted }: TrustReport, style: Style): string {
  if (items.length === 0) return 'Nothing here needs your approval.';
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
      summary: 'Show what this repository would run and which invariants agents must obey, and approve them',
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
