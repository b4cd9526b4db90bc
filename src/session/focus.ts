import * as z from 'zod/mini';
import { ForgeError, unlessFailed, usage } from '../core/error.js';
import type { Write } from '../core/files.js';
import { focusFile } from '../core/paths.js';
import { checkId, checkInput, encodeDocument } from '../core/schema.js';
import { checkText } from '../core/text.js';
import { refuseWorkedOn, usesClaims } from '../events/local-claims.js';
import { queueEvent } from '../events/outbox.js';
import { type AddedFeature, addFeature, editFeature, listFeatures } from '../feature/feature.js';
import { blockersOf, type Feature, type FeatureInput } from '../feature/rules.js';
import { readActive, readFeatures } from '../feature/store.js';
import { LOCAL, namesTask, taskLine, type Unit } from '../feature/tasks.js';
import type { VerifyWatch } from '../feature/verify.js';
import { readKfr, switchContext } from '../kfr/kfr.js';
import { openEntries } from '../kfr/rules.js';
import { type Context, isBuilding, timestamp } from '../project/project.js';
import { bestSkill, requireSkill } from '../skill/skill.js';
import { FOCUS, type Focus, isAbout, NO_FOCUS, planFocus, switchesContext } from './rules.js';
import { readRunning, refuseBeside, showFocus } from './running.js';

export const FocusInput = z.strictObject({
  task: z.optional(z.string()),
  /** An id, or null to clear it. */
  issue: z.optional(z.nullable(z.string())),
  files: z.optional(z.array(z.string())),
  phase: z.optional(z.string()),
  blockers: z.optional(z.array(z.string())),
  skill: z.optional(z.nullable(z.string())),
});
export type FocusInput = z.infer<typeof FocusInput>;

/** The focus, and the triggers of the skill that forge selected for it. */
type SetFocus = Focus & { skill_why?: string[] };

/**
 * SES-05. Another task starts with empty files, blockers and phase. SKL-06: a task or an issue activates the skill that
 * fits best, unless one was named.
 */
export function setFocus(context: Context, raw: FocusInput): SetFocus {
  const { issue, ...given } = checkInput(FocusInput, raw);
  const named = taskNamed(context, given.task);
  const rest = named ? { ...given, task: taskLine(named) } : given;
  const change = { ...rest, linear_issue: issue === undefined ? (named?.issue ?? undefined) : issue };
  if (Object.values(change).every((value) => value === undefined))
    throw usage('focus.nothing', 'Nothing to set.', { hint: 'forge focus set --task "TEXT"' });
  checkTexts({ ...rest, issue });
  if (rest.skill && !requireSkill(context, rest.skill).isApproved)
    context.warnings.push(
      `Skill ${rest.skill} is not approved on this machine: agents get nothing of it until a person runs forge trust.`,
    );
  const unit = issue && rest.task === undefined ? findActive(context, issue) : undefined;
  let why: string[] | undefined;
  const after = replaceFocus(context, (focus) => {
    // The task belongs to the issue before.
    const isOther = unit && focus.linear_issue !== null && focus.linear_issue !== issue;
    const turned = isOther
      ? { ...change, task: taskLine({ id: unit.linear_id, title: unit.title }) }
      : change;
    const planned = planFocus(focus, turned, timestamp(context));
    const isNew = planned.task !== focus.task || planned.linear_issue !== focus.linear_issue;
    const best = rest.skill === undefined && isNew ? bestSkill(context, planned) : null;
    why = best?.why;
    return {
      after: best ? { ...planned, skill: best.name } : planned,
      writes: switchesContext(focus, turned) ? switchContext(context, 'The task cannot change') : [],
    };
  });
  return why ? { ...after, skill_why: why } : after;
}

const findActive = (context: Context, id: string) =>
  readActive(context).find(({ linear_id }) => linear_id === id);

const taskNamed = (context: Context, text: string | undefined) =>
  text === undefined
    ? undefined
    : findTask({ features: readFeatures(context), issues: readActive(context) }, text);

/** The feature or active issue that a text names. Under one name, learnings about it are not doubled. */
export const findTask = (
  { features, issues }: { features: readonly Feature[]; issues: readonly Unit[] },
  text = '',
) =>
  [
    ...features.map(({ id, name, linear_issue: issue = null }) => ({ id, title: name, issue })),
    ...issues.map(({ linear_id: id, title }) => ({ id, title, issue: id })),
  ].find((task) => namesTask(text, task));

function checkTexts({ task, issue, files = [], phase, blockers = [] }: FocusInput): void {
  if (task !== undefined) checkText(task, { what: 'The task', lines: false });
  if (phase !== undefined) checkText(phase, { what: 'The phase', lines: false, maxBytes: 100 });
  for (const file of files) checkText(file, { what: 'A file name', lines: false });
  for (const blocker of blockers) checkText(blocker, { what: 'A blocker' });
  if (issue) checkId(issue, 'issue id');
}

/** `writes` are applied together with it, all or nothing. */
function replaceFocus(context: Context, change: (focus: Focus) => { after: Focus; writes: Write[] }): Focus {
  const { disk, layout } = context;
  return disk.withLock(() => {
    refuseBeside(context);
    const before = disk.readDocument(FOCUS, focusFile(layout), NO_FOCUS);
    const { after, writes } = change(before.value);
    disk.replaceAll([
      { path: focusFile(layout), bytes: encodeDocument(after), expected: before.bytes },
      ...writes,
    ]);
    const news = newsOf(after);
    if (JSON.stringify(news) !== JSON.stringify(newsOf(before.value)))
      queueEvent(context, 'focus', `${timestamp(context)} ${JSON.stringify(news)}`, news);
    return after;
  });
}

/** Files and blockers change often, and are no news for others. */
const newsOf = ({ task, linear_issue: issue, phase, skill = null }: Focus) => ({ task, issue, phase, skill });

/** EVT-03: the same, with the claim of the task. Exit 3 `claim.held` when another holder has it. */
export async function turnFocus(context: Context, raw: FocusInput): Promise<SetFocus> {
  const { task, issue = null } = checkInput(FocusInput, raw);
  // Linear may have any other.
  if (issue && LOCAL.test(issue) && !findActive(context, issue))
    throw usage('linear.unknown', `There is no active issue ${issue} here.`, { hint: 'forge linear list' });
  const named = taskNamed(context, task);
  for (const id of [named?.id, issue]) if (id) refuseWorkedOn(context, id);
  if (!usesClaims(context)) return setFocus(context, raw);
  const { taskOfFocus, turnTo } = await import('../events/claim-work.js');
  const id = taskOfFocus(context, named ? taskLine(named) : (task ?? null), issue);
  if (id !== null) await turnTo(context, id);
  const after = setFocus(context, raw);
  await dropClaims(context, after);
  return after;
}

export async function leaveFocus(context: Context): Promise<Focus> {
  // Keep the fields of a newer forge.
  const after = replaceFocus(context, (focus) => ({
    after: { ...focus, ...NO_FOCUS, schema_version: focus.schema_version },
    writes: switchContext(context, 'The focus cannot be cleared'),
  }));
  await dropClaims(context, after);
  return after;
}

/** What came with another focus is free again. */
async function dropClaims(context: Context, { task, linear_issue: issue }: Focus): Promise<void> {
  if (!usesClaims(context)) return;
  const { releaseOthers, taskOfFocus } = await import('../events/claim-work.js');
  await releaseOthers(context, taskOfFocus(context, task, issue));
}

/** Ends the focus on a finished issue. Open questions keep its task (KFR-09). */
export async function leaveIssue(context: Context, id: string): Promise<void> {
  const focus = showFocus(context);
  const isTask = isAbout(focus, id);
  if (isTask && openEntries(readKfr(context)).length > 0)
    context.warnings.push(`${id} stays the task: working memory has open entries. forge kfr list`);
  else if (isTask) await leaveFocus(context);
  else if (focus.linear_issue === id) setFocus(context, { issue: null });
}

/** Adds a feature. It becomes the task of a running session that has none. */
export async function addFeatureToWork(
  context: Context,
  input: FeatureInput,
  watch: VerifyWatch = {},
): Promise<AddedFeature> {
  const added = await addFeature(context, input, watch);
  const feature = added.features[0] as Feature;
  try {
    const isFree = readRunning(context) !== null && showFocus(context).task === null && !isBuilding(context);
    const { features } = listFeatures(context);
    const isDone = (id: string): boolean =>
      features.some((other) => other.id === id && other.status === 'passing');
    if (!isFree || !blockersOf(feature).every(isDone)) return added;
    await turnFocus(context, { task: feature.id });
    context.warnings.push(`${feature.id} is the task now: forge focus show`);
  } catch (error) {
    // The feature is added, and forge status names a damaged focus.
    if (!(error instanceof ForgeError)) throw error;
  }
  return added;
}

/** Edits a feature. The task takes its new name. */
export async function editFeatureOfWork(...call: Parameters<typeof editFeature>): Promise<AddedFeature> {
  const [context, input] = call;
  const edited = await editFeature(...call);
  const { id, name: title } = edited.features[0] as Feature;
  const rename = (focus: Focus) => ({ after: { ...focus, task: taskLine({ id, title }) }, writes: [] });
  unlessFailed(null, () => input.name && isAbout(showFocus(context), id) && replaceFocus(context, rename));
  return edited;
}
