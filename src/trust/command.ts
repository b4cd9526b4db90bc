import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Call, command, type Group } from '../cli/spec.js';
import type { Style } from '../cli/style.js';
import { refused } from '../core/error.js';
import { templatesFolder } from '../core/templates.js';
import { escapeControls } from '../core/text.js';
import type { TrustItem, TrustReport } from '../index.js';
import { diffLines } from './approvals.js';

async function run(call: Call): Promise<TrustReport> {
  const { trust } = call.forge();
  if (call.options.revoke === true) return trust.revoke();
  const report = await trust.show();
  if (call.options.show === true || call.flags.dryRun || report.trusted) return report;
  call.say(renderAll(report, call.style, fold));
  if (!call.flags.yes && call.world.terminal && !call.interactive)
    throw refused('trust.unconfirmed', 'Nothing was approved: a person has to confirm at a terminal.', {
      hint: 'forge trust --show\nforge trust --yes   # after reading it',
    });
  const asked = askedOf(report.items);
  if (call.interactive && !(await confirmed(asked)))
    throw refused('trust.declined', 'Nothing was approved.', { hint: 'forge trust' });
  const rules = asked.filter(isNamed).map(({ digest }) => digest);
  return trust.approve({ digest: report.digest, rules });
}

const isMissing = ({ state }: TrustItem): boolean => state === 'missing';

/** A yes to what is here withdraws nothing, so missing invariants are asked about only when nothing else is. */
function askedOf(items: readonly TrustItem[]): TrustItem[] {
  const open = items.filter(({ state }) => state !== 'trusted');
  return open.every(isMissing) ? open : open.filter((item) => !isMissing(item));
}

const isNamed = ({ kind }: TrustItem): boolean => kind === 'rule' || kind === 'url';

async function confirmed(asked: readonly TrustItem[]): Promise<boolean> {
  const { confirm } = await import('../cli/prompt.js');
  const many = asked.length > 1;
  return confirm(
    asked.every(isMissing)
      ? `Withdraw your approval of ${many ? `the ${asked.length} missing invariants` : 'the missing invariant'}, for every branch?`
      : `Approve ${many ? `these ${asked.length}` : 'this'} on this machine?`,
  );
}

const STATE_WORDS = {
  trusted: 'approved',
  changed: 'changed since it was approved',
  new: 'not approved',
  missing: 'approved, and missing now: removed, or on another branch',
};

const render = (report: TrustReport, style: Style): string => renderAll(report, style);

type Reading = (content: string) => string;

/** `reading`: when a person is asked. */
function renderAll({ items, digest, trusted }: TrustReport, style: Style, reading?: Reading): string {
  if (items.length === 0) return 'Nothing here needs your approval.';
  const lack = askedOf(items).every(isMissing)
    ? 'All that is here is approved. Restore the missing invariants, or withdraw your approval'
    : 'Not all of it is approved';
  const state = trusted
    ? style.good('All of it is approved.')
    : style.warn(`${lack}${reading ? '.' : ': forge trust'}`);
  const text = items.map((item) => renderItem(item, style, reading));
  const ci = digest === undefined ? [] : [`For CI, to approve exactly this: CI=1 FORGE_TRUST=${digest}`];
  return [...text, '', state, ...ci].join('\n');
}

/** The whole content, because a person approves it. Escapes are shown, not sent to the terminal. */
function renderItem(
  { name, kind, state, before, content }: TrustItem,
  style: Style,
  reading: Reading = (whole) => whole,
): string {
  const mark = state === 'trusted' ? style.good : style.warn;
  const lines =
    before === undefined ? reading(content).replace(/\n$/, '').split('\n') : diffLines(before, content);
  const shown = state === 'trusted' && kind === 'file' ? [] : lines;
  return [
    `${style.strong(escapeControls(name))}  ${mark(STATE_WORDS[state])}`,
    ...shown.map((line) => `  ${escapeControls(line)}`),
  ].join('\n');
}

/** When a person is asked, the parts of `init.sh` that are as this forge writes them need no reading. */
function fold(content: string): string {
  const folder = join(templatesFolder(), 'init');
  return readdirSync(folder).reduce((text, name) => {
    const piece = readFileSync(join(folder, name), 'utf8');
    const lines = piece.split('\n').length - 1;
    return text.replace(
      piece,
      () => `# … ${lines} lines as forge init writes them; forge trust --show has them\n`,
    );
  }, content);
}

export const group: Group = [
  command<TrustReport>({
    name: 'trust',
    summary: 'Show what this repository would run and which invariants agents must obey, and approve them',
    example: 'forge trust --show',
    options: [
      { flags: '--show', help: 'show only' },
      { flags: '--revoke', help: 'revoke every approval for this repository' },
    ],
    writes: true,
    confirms: true,
    run,
    render,
  }),
];
