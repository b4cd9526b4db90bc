import { createHash } from 'node:crypto';
import { gitAtOnce } from '../../adapters/git/git.js';
import { readTip } from '../../adapters/git/read.js';
import type { World } from '../../adapters/world.js';
import { ID_PATTERN } from '../../domain/id.js';
import { TIERS } from '../../domain/ledger/ledger.js';
import { COLORS, COMPONENTS, type Color, type ComponentName, worstOf } from '../../domain/status/status.js';
import { readHint, stampFile, writeHint } from '../../store/hint.js';
import {
  activeIssuesFile,
  configFile,
  doneIssuesFolder,
  featuresFile,
  focusFile,
  haltFile,
  kfrFile,
  knowledgeFile,
  type Layout,
  progressFile,
  promotionFile,
  promptFile,
  sessionFile,
  sessionsFolder,
} from '../../store/layout.js';
import { listArchives, listContainers } from '../../store/ledger/files.js';
import { type Context, openContext } from '../context.js';
import { lookAtGit } from './git.js';

/** The colours of a look, as long as its files are the same and no border of age is passed. */
interface Remembered {
  stamps: string;
  /** Milliseconds since 1970: when it was looked, and until when it holds. */
  at: number;
  until: number;
  colors: Record<ComponentName, Color>;
  task: string | null;
  /** The default branch as the settings have it, or ''. */
  branch: string;
}

export interface Brief {
  components: { name: ComponentName; color: Color }[];
  task: string | null;
}

const LENGTH = 4096;

/** All that those colours are made of. */
const FILES = [
  configFile,
  knowledgeFile,
  featuresFile,
  progressFile,
  sessionFile,
  focusFile,
  kfrFile,
  activeIssuesFile,
  doneIssuesFolder,
  sessionsFolder,
  haltFile,
  promotionFile,
];

/** Of all that the colours are made of but the working tree. Linear's depends on HEAD as well; null: it cannot be told. */
function stampsOf({ layout, repository }: Context): string | null {
  const head = repository ? readTip(repository) : '';
  if (head === null) return null;
  return [...FILES.map((path) => stampFile(path(layout))), stampLedgers(layout), head].join(' ');
}

/** Of hundreds of files in few bytes. The newest time of change is last, as in each other stamp. */
function stampLedgers(layout: Layout): string {
  const containers = [...TIERS.flatMap((tier) => listContainers(layout, tier)), ...listArchives(layout)];
  const digest = createHash('sha256');
  for (const { path, stat } of containers) digest.update(`${path}\0${stat}\n`);
  const newest = containers.reduce((latest, { changedAt }) => Math.max(latest, changedAt), 0);
  return `${digest.digest('hex')}:${newest}000000`;
}

/** A change within this time of the look may have left every stamp the same. */
const CLOCK_TICK_MS = 20;

/** What there was before anything was read, and when that was. */
export interface Before {
  stamps: string | null;
  at: number;
}

export const beforeLook = (context: Context): Before => ({
  stamps: stampsOf(context),
  at: context.world.now().getTime(),
});

/** For the next prompt. `borders`: when age changes a colour. */
export function rememberBrief(
  { layout, disk }: Context,
  { stamps, at }: Before,
  { components, task, branch }: Brief & Pick<Remembered, 'branch'>,
  borders: readonly (number | null)[],
): void {
  if (stamps === null || disk.dryRun || isFresh(stamps, at)) return;
  const until = Math.min(...borders.map((border) => border ?? Number.MAX_SAFE_INTEGER));
  const colors = Object.fromEntries(components.map(({ name, color }) => [name, color]));
  const known = readHint<Remembered>(promptFile(layout));
  const found = { stamps, at, until, colors, task, branch };
  // All of it: what another version of forge left may lack something, and would never be used.
  if (known && known.at <= at && JSON.stringify({ ...known, at }) === JSON.stringify(found)) return;
  writeHint(promptFile(layout), found, LENGTH);
}

const isFresh = (stamps: string, at: number): boolean =>
  [...stamps.matchAll(/:(\d+)\d{6}(?= |$)/g)].some(([, ms]) => Math.abs(at - Number(ms)) < CLOCK_TICK_MS);

/**
 * What the look before this one remembered, with what git says now: one `git status`, and no file that has a schema is
 * read. Null where that does not suffice; then nothing was told.
 */
export async function promptStatus(dir: string, world: World): Promise<Brief | null> {
  try {
    const context = openContext(dir, world, true);
    if (context.repository) context.git = gitAtOnce(context.repository.root, world.env);
    const known = recall(context);
    if (!known) return null;
    const git = worstOf((await lookAtGit(context, known.branch, notKnown)).map(({ color }) => color));
    const colors = { ...known.colors, git };
    return { components: COMPONENTS.map((name) => ({ name, color: colors[name] })), task: known.task };
  } catch {
    return null;
  }
}

const notKnown = (): Promise<never> => Promise.reject(new Error('the checkpoint is not known'));

function recall(context: Context): Remembered | null {
  const known = readHint<Remembered>(promptFile(context.layout));
  const now = context.world.now().getTime();
  if (!known || known.stamps !== stampsOf(context) || known.at > now || now >= known.until) return null;
  const isSound = COMPONENTS.every((name) => COLORS.includes(known.colors?.[name]));
  // Without git it lies in .forge/, which may have come from anywhere.
  return isSound && typeof known.branch === 'string' && (known.task === null || ID_PATTERN.test(known.task))
    ? known
    : null;
}
