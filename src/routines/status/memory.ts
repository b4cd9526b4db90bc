import { decodeUtf8 } from '../../domain/document.js';
import { ForgeError } from '../../domain/error.js';
import { countStatuses, FEATURES, type Feature } from '../../domain/feature/feature.js';
import { KNOWLEDGE } from '../../domain/knowledge/knowledge.js';
import { isDamage } from '../../domain/ledger/finding.js';
import { selectNext } from '../../domain/next.js';
import { entryTimes } from '../../domain/session/progress.js';
import { sessionName } from '../../domain/session/session.js';
import { HOUR, MINUTE, nextBorder, WEEK } from '../../domain/status/age.js';
import { damaged, judgeFeatures, judgeKnowledge, judgeProgress } from '../../domain/status/rules.js';
import { type Remark, red, type Timed, yellow } from '../../domain/status/status.js';
import { oneLine } from '../../domain/text.js';
import { featuresFile, knowledgeFile, progressFile, shown } from '../../store/layout.js';
import { readHalt } from '../../store/ledger/halt.js';
import type { Context } from '../context.js';
import { claimsIn } from '../feature/feature.js';
import { readKfr } from '../kfr/kfr.js';
import { describeFinding, glanceAtMemory } from '../memory/integrity.js';
import type { LookOptions } from '../memory/look.js';
import { withRescue } from '../rescue.js';
import { showFocus } from '../session/focus.js';
import { readRunning } from '../session/running.js';

export interface StatusInput {
  /** For a prompt: no good version is looked for of what is damaged. */
  brief?: boolean;
}

/** What forge refuses to read is what a status is asked about. */
export async function lookSafely(
  context: Context,
  { brief }: StatusInput,
  look: () => Timed | Remark[] | Promise<Remark[]>,
): Promise<Timed> {
  try {
    const seen = await look();
    return Array.isArray(seen) ? { remarks: seen, until: null } : seen;
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind === 'bug') throw error;
    const told = brief ? error : ((await withRescue(context, error)) as ForgeError);
    const remarks = damaged({ message: told.message, hint: told.details.hint }, 'forge doctor');
    return { remarks, until: null };
  }
}

export function lookAtKnowledge({ disk, layout, world }: Context): Timed {
  const { patterns } = disk.requireDocument(KNOWLEDGE, knowledgeFile(layout)).value;
  const learned = [...patterns.successful, ...patterns.failed].map(({ learned_at }) => learned_at);
  const times = learned.map((at) => Date.parse(at));
  const now = world.now();
  return { remarks: judgeKnowledge(learned, now), until: nextBorder(times, [-MINUTE, WEEK], now) };
}

const VERIFY = 'forge memory verify';
/** Damage is told in full by verify. */
const TOLD = 3;

/** Whether memory is halted, and whether its ledgers are what they were. Nothing where all is well. */
export async function lookAtLedgers(context: Context, options: LookOptions): Promise<Remark[]> {
  const halt = readHalt(context.disk);
  if (halt)
    return [red(`memory is halted: ${oneLine(halt.reasons[0] ?? 'it was found damaged', 300)}`, VERIFY)];
  const { findings, unproven, breaches } = await glanceAtMemory(context, options);
  const told = findings.filter((finding) => isDamage(finding) && !finding.restorable);
  const others = [...findings.filter((finding) => !told.includes(finding)), ...unproven];
  return [
    ...breaches.map((reason) => red(`an open breach: ${oneLine(reason, 300)}`, VERIFY)),
    ...told.map((finding) => red(oneLine(describeFinding(finding), 400), VERIFY)).slice(0, TOLD),
    ...others.map((finding) => yellow(oneLine(describeFinding(finding), 400), VERIFY)).slice(0, TOLD),
  ];
}

/** The other files of a session are read, too: one that is damaged keeps a session from going on. */
export function lookAtShortTerm(context: Context): Timed {
  const { disk, layout, world } = context;
  showFocus(context);
  readKfr(context);
  const path = progressFile(layout);
  const running = readRunning(context);
  const bytes = disk.read(path);
  const entries = bytes && entryTimes(decodeUtf8(bytes, shown(layout, path)));
  const now = world.now();
  const remarks = judgeProgress({ session: running && sessionName(running.id), entries }, now);
  const times = (entries ?? []).map((minutes) => minutes * MINUTE);
  return { remarks, until: running ? nextBorder(times, [-MINUTE, HOUR + MINUTE], now) : null };
}

/** As they stand in the file. */
export const storedFeatures = ({ disk, layout }: Context): Feature[] =>
  disk.requireDocument(FEATURES, featuresFile(layout)).value.features;

export function lookAtFeatures(context: Context, features: readonly Feature[]): Remark[] {
  const claims = new Set(claimsIn(context, features));
  const believed = features.map((feature) =>
    claims.has(feature) ? { ...feature, status: 'in_progress' as const } : feature,
  );
  return judgeFeatures({
    counts: countStatuses(believed),
    claims: [...claims].map(({ id }) => id),
    next: nextCommand(believed),
  });
}

/** A feature without tests can be proved by nothing yet. */
function nextCommand(features: readonly Feature[]): string {
  const { task } = selectNext(features, []);
  const tests = features.find(({ id }) => id === task?.id)?.tests ?? [];
  return task && tests.length > 0 ? `forge feature verify ${task.id}` : 'forge next';
}
