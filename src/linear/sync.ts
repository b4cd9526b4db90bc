import { ForgeError, outside, usage } from '../core/error.js';
import { doneIssueFile, focusFile } from '../core/paths.js';
import { encodeDocument, isId } from '../core/schema.js';
import { oneLine } from '../core/text.js';
import { changeActive, updateFeatures } from '../feature/store.js';
import { LOCAL } from '../feature/tasks.js';
import { cleanForeign } from '../guard/guard.js';
import { type Context, readConfig, timestamp } from '../project/project.js';
import { FOCUS, NO_FOCUS } from '../session/rules.js';
import { connect, type Request, readKey, requireKey, Unavailable } from './client.js';
import { ADD_COMMENT, ASSIGNED, COMMENT, CREATE, ISSUE, TEAMS, UPDATE } from './documents.js';
import {
  activeIssues,
  asActive,
  changeQueue,
  doneIds,
  enqueue,
  isSame,
  moveToHistory,
  type Pending,
  readDone,
  readQueue,
  replaceIssue,
} from './issue.js';
import {
  type Conflict,
  type Issue,
  isDone,
  mergeRemote,
  type RemoteIssue,
  toIssue,
  uuidFrom,
} from './rules.js';

interface Failure {
  issue: string;
  message: string;
}

export interface Synced {
  pulled: string[];
  /** Active issues that were ended in Linear, and are in the history now. */
  closed: string[];
  /** Done issues that were reopened in Linear, and are active again. */
  reopened: string[];
  /** Issues that were created in Linear, and comments and states that were sent, as `APP-7 comment`. */
  pushed: string[];
  queued: number;
  failed: Failure[];
  /** Texts that were changed here and in Linear: Linear's won. */
  conflicts: Conflict[];
  /** A dry run: `pushed` would be sent. */
  planned?: true;
}

const MAX_PAGES = 40;

/** LIN-03: fetches the issues assigned to this person, and sends waiting changes. A dry run sends and writes nothing. */
const syncing =
  ({ pulls, pushes }: { pulls: boolean; pushes: boolean }) =>
  async (context: Context): Promise<Synced> => {
    const request = connect(context.world.env, await requireKey(context.world.env));
    const pulled = pulls
      ? await noteFailure(context, () => pull(context, request))
      : { pulled: [], closed: [], reopened: [], conflicts: [] };
    if (!pushes) return { ...pulled, pushed: [], queued: readQueue(context).pending.length, failed: [] };
    return { ...pulled, ...(context.disk.dryRun ? planPush(context) : await push(context, request)) };
  };

export const syncIssues = syncing({ pulls: true, pushes: true });
export const pullIssues = syncing({ pulls: true, pushes: false });
export const pushIssues = syncing({ pulls: false, pushes: true });

/** `forge status` shows why Linear could not be read, until it can be (RFC-9060 §8.1). */
async function noteFailure<T>(context: Context, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    setError(context, null);
    return result;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'outside') setError(context, error.message);
    throw error;
  }
}

function setError(context: Context, error: string | null): void {
  if (!context.disk.dryRun) changeQueue(context, (queue) => ({ ...queue, error }));
}

async function pull(context: Context, request: Request) {
  const remote = await assignedIssues(request);
  const ids = new Set(remote.map(({ id }) => id));
  const present = activeIssues(context);
  // Issues of Linear that are no longer assigned here, or are done there.
  const gone = await Promise.all(
    present
      .filter(({ uuid }) => uuid !== undefined && !ids.has(uuid))
      .map(({ uuid }) => request(ISSUE, { id: uuid }).catch(ignoreMissing)),
  );
  const others = gone.flatMap((answer) => answer?.issue ?? []);
  const states = new Map(
    readQueue(context).pending.flatMap((entry) => (entry.kind === 'state' ? [[entry.uuid, entry]] : [])),
  );
  // A state that waits to be sent is newer than Linear's, unless Linear has ended the issue.
  const newer = ({ state, ...issue }: RemoteIssue): RemoteIssue => {
    const waits = states.get(issue.id);
    const type = isDone(state?.type) && !waits?.reopens ? undefined : waits?.type;
    return { ...issue, state: type === undefined ? state : { name: type, type } };
  };
  const safe = (await cleanRemote(context, [...remote, ...others])).map(newer);
  const now = timestamp(context);
  const conflicts: Conflict[] = [];
  const done: Issue[] = [];
  const reopened: string[] = [];
  context.disk.withLock(() => {
    const past = new Set(doneIds(context));
    const endOf = ({ id, identifier }: RemoteIssue): Issue | null => {
      const end = past.has(identifier) ? readDone(context, identifier) : null;
      return end?.uuid === id ? asActive(end) : null;
    };
    changeActive(context, (units) => {
      const local = new Map(units.map(toIssue).flatMap((issue) => (issue.uuid ? [[issue.uuid, issue]] : [])));
      const merged = safe.flatMap((each) => {
        const end = local.has(each.id) ? null : endOf(each);
        // Done here, which Linear may not know yet.
        if (end && !((each.updatedAt ?? '') > end.updated_at)) return [];
        if (end && !isDone(each.state?.type)) reopened.push(end.linear_id);
        const { issue, conflicts: found } = mergeRemote(local.get(each.id) ?? end, each, now);
        conflicts.push(...found);
        return [issue];
      });
      const byId = new Map(merged.map((issue) => [issue.uuid, issue]));
      for (const issue of merged)
        if (isDone(issue.state) && local.has(issue.uuid as string)) done.push({ ...issue, state: 'done' });
      const kept = units.map((unit) => byId.get(unit['uuid'] as string) ?? unit);
      return [...kept, ...merged.filter(({ uuid, state }) => !local.has(uuid as string) && !isDone(state))];
    });
    context.disk.replaceAll(reopened.map((id) => ({ path: doneIssueFile(context.layout, id), bytes: null })));
  });
  for (const issue of done) moveToHistory(context, issue);
  // The others were ended here.
  const ended = done.filter(({ uuid }) => !isDone(states.get(uuid as string)?.type));
  const closed = ended.map(({ linear_id }) => linear_id);
  return { pulled: safe.map(({ identifier }) => identifier), closed, reopened, conflicts };
}

/** An issue that was deleted in Linear stays here as it is. */
function ignoreMissing(error: unknown): null {
  if (error instanceof ForgeError && error.code === 'linear.error') return null;
  throw error;
}

async function assignedIssues(request: Request): Promise<RemoteIssue[]> {
  const found: RemoteIssue[] = [];
  const variables: { after: string | null } = { after: null };
  for (let page = 0; page < MAX_PAGES; page++) {
    const { nodes, pageInfo } = (await request(ASSIGNED, variables)).viewer.assignedIssues;
    found.push(...nodes);
    variables.after = pageInfo.endCursor ?? null;
    if (!pageInfo.hasNextPage || variables.after === null) break;
  }
  return found;
}

/** Text of others: hidden characters, secrets and personal data are removed before it is stored. */
async function cleanRemote(context: Context, issues: readonly RemoteIssue[]): Promise<RemoteIssue[]> {
  for (const { identifier } of issues)
    if (!isId(identifier))
      throw outside('linear.answer', `Linear sent an issue with an odd id: ${oneLine(identifier, 40)}.`);
  const texts = issues.flatMap(({ title, description, labels }) => [
    ...[title, description ?? ''],
    ...(labels?.nodes ?? []).map(({ name }) => name),
  ]);
  const clean = await cleanForeign(context, texts);
  const next = (): string => clean.shift() ?? '';
  return issues.map(({ labels, ...issue }) => ({
    ...issue,
    title: next(),
    description: next(),
    ...(labels ? { labels: { nodes: labels.nodes.map(() => ({ name: next() })) } } : {}),
  }));
}

const waiting = (context: Context): Issue[] =>
  activeIssues(context).filter(({ linear_id, uuid }) => LOCAL.test(linear_id) && uuid === undefined);

function planPush(context: Context): Pick<Synced, 'pushed' | 'queued' | 'failed' | 'planned'> {
  const { pending } = readQueue(context);
  const fresh = waiting(context).map(({ linear_id }) => `${linear_id} issue`);
  const pushed = [...fresh, ...pending.map(nameOf)];
  return { pushed, queued: pushed.length, failed: [], planned: true };
}

const nameOf = ({ issue, kind }: Pending): string => `${issue} ${kind}`;

/** New issues first: their comments and states follow. Stops where Linear does not answer, or asks to wait. */
async function push(context: Context, request: Request) {
  const pushed: string[] = [];
  const failed: Failure[] = [];
  let isOver = false;
  const attempt = async (issue: string, work: () => Promise<string>): Promise<void> => {
    if (isOver) return;
    try {
      pushed.push(await work());
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind !== 'outside') throw error;
      failed.push({ issue, message: error.message });
      // Linear may refuse one of them and take the others.
      isOver = error.code !== 'linear.error';
      if (!(error instanceof Unavailable) || error.waitMs === 0) return;
      const not_before = new Date(context.world.now().getTime() + error.waitMs).toISOString();
      changeQueue(context, (queue) => ({ ...queue, not_before }));
    }
  };
  const { not_before } = readQueue(context);
  const fresh = waiting(context);
  if (typeof not_before === 'string' && not_before > timestamp(context))
    failed.push({ issue: '', message: `Linear asked to wait until ${not_before}.` });
  else {
    for (const issue of fresh) await attempt(issue.linear_id, () => create(context, request, issue));
    // Read again, because a new issue has given its id to waiting changes.
    for (const entry of readQueue(context).pending)
      await attempt(entry.issue, () => send(context, request, entry));
  }
  const error = failed[0]?.message ?? null;
  changeQueue(context, (queue) => ({ ...queue, error, ...(error === null ? { not_before: null } : {}) }));
  const left = fresh.length > 0 ? waiting(context).length : 0;
  return { pushed, queued: readQueue(context).pending.length + left, failed };
}

/** B-75: forge chooses the UUID, so a retry finds what an earlier attempt created and creates no duplicate. */
async function once<T>(find: () => Promise<T | null>, make: () => Promise<T | null>): Promise<T | null> {
  const known = await find();
  if (known) return known;
  try {
    return await make();
  } catch (error) {
    const made = error instanceof ForgeError && error.code === 'linear.error' ? await find() : null;
    if (made) return made;
    throw error;
  }
}

async function create(context: Context, request: Request, issue: Issue): Promise<string> {
  const id = uuidFrom(`issue ${issue.linear_id} ${issue.created_at}`);
  const criteria = issue.acceptance_criteria.map((text) => `- [ ] ${text}`).join('\n');
  const remote = await once<RemoteIssue>(
    async () => (await request(ISSUE, { id }).catch(ignoreMissing))?.issue ?? null,
    async () => {
      const input = {
        ...{ id, teamId: await teamOf(context, request), title: issue.title, priority: issue.priority ?? 0 },
        description: [issue.description, criteria].filter(Boolean).join('\n\n'),
      };
      return (await request(CREATE, { input })).issueCreate.issue;
    },
  );
  if (!remote) throw new Unavailable('Linear did not return the new issue.');
  const [made = remote] = await cleanRemote(context, [remote]);
  const { issue: merged } = mergeRemote(issue, made, timestamp(context));
  // The local text stays: Linear shows the criteria inside its description.
  const { description, acceptance_criteria, state } = issue;
  const pulled = { title: merged.title, description };
  renameIssue(context, issue.linear_id, { ...merged, description, acceptance_criteria, state, pulled });
  // An issue that nobody has started gets the state that the team gives to new ones.
  if (state !== 'unstarted' && state !== made.state?.type)
    enqueue(context, { kind: 'state', issue: made.identifier, uuid: made.id, type: state });
  return `${made.identifier} issue (was ${issue.linear_id})`;
}

/** A local id becomes Linear's, wherever it is named. */
function renameIssue(context: Context, before: string, issue: Issue): void {
  const { disk, layout } = context;
  const id = issue.linear_id;
  disk.withLock(() => {
    replaceIssue(context, before, () => issue);
    updateFeatures(context, (features) =>
      features.map((feature) =>
        feature.linear_issue === before ? { ...feature, linear_issue: id } : feature,
      ),
    );
    const { value: focus, bytes } = disk.readDocument(FOCUS, focusFile(layout), NO_FOCUS);
    if (focus.linear_issue !== before) return;
    const { task: old } = focus;
    const task = old?.startsWith(`${before}: `) ? id + old.slice(before.length) : old;
    disk.replace(focusFile(layout), encodeDocument({ ...focus, task, linear_issue: id }), bytes);
  });
}

async function teamOf(context: Context, request: Request): Promise<string> {
  const { nodes } = (await request(TEAMS, {})).teams;
  const wanted = readConfig(context).linear.team;
  const found = wanted === '' && nodes.length === 1 ? nodes[0] : nodes.find(({ key }) => key === wanted);
  if (found) return found.id;
  const why = wanted === '' ? 'New issues need a team.' : `There is no team ${oneLine(wanted, 20)}.`;
  throw usage('linear.team', why, {
    hint: nodes.map(({ key }) => `forge config set linear.team ${oneLine(key, 20)}`).join('\n'),
  });
}

async function send(context: Context, request: Request, entry: Pending): Promise<string> {
  if (entry.kind === 'comment') await sendComment(request, entry);
  else await sendState(request, entry);
  changeQueue(context, (queue) => ({
    ...queue,
    // A later state may have replaced it meanwhile.
    pending: queue.pending.filter((other) => !isSame(other, entry) || other.type !== entry.type),
  }));
  return nameOf(entry);
}

async function sendComment(request: Request, { uuid, id, body = '' }: Pending): Promise<void> {
  await once<object>(
    async () => (await request(COMMENT, { id }).catch(ignoreMissing))?.comment ?? null,
    () => request(ADD_COMMENT, { input: { id, issueId: uuid, body } }),
  );
}

/** By the type of the state: teams name their states as they like. Nothing is sent when the issue has such a state. */
async function sendState(request: Request, { uuid, type, reopens }: Pending): Promise<void> {
  const { issue } = await request(ISSUE, { id: uuid });
  if (!issue || issue.state?.type === type || (isDone(issue.state?.type) && !reopens)) return;
  const states = issue.team.states.nodes.filter((state) => state.type === type);
  const first = states.sort((a, b) => a.position - b.position)[0];
  if (first) await request(UPDATE, { id: uuid, input: { stateId: first.id } });
}

interface SessionNote {
  issue: string;
  session: string;
  done: readonly string[];
  next: string | null;
}

const MAX_LINES = 20;

/**
 * SES-06, LIN-03: a comment on the issue in focus, once for each session. It is sent now where there is a key, else with the
 * next sync.
 */
export async function reportSession(context: Context, note: SessionNote) {
  const uuid = activeIssues(context).find(({ linear_id }) => linear_id === note.issue)?.uuid;
  if (uuid === undefined || context.disk.dryRun) return [];
  const body = [
    `Session ${note.session}`,
    note.done
      .slice(-MAX_LINES)
      .map((line) => `- ${oneLine(line, 300)}`)
      .join('\n'),
    note.next === null ? '' : `Next: ${oneLine(note.next, 300)}`,
  ];
  const id = uuidFrom(`session ${note.session} ${uuid}`);
  enqueue(context, { kind: 'comment', issue: note.issue, uuid, id, body: body.filter(Boolean).join('\n\n') });
  await flushQuietly(context);
  return [{ issue: note.issue, sent: !readQueue(context).pending.some((entry) => entry.id === id) }];
}

/** Sends waiting changes, up to the first failure. */
async function flushQuietly(context: Context): Promise<void> {
  try {
    const key = await readKey(context.world.env);
    if (key === null) return;
    const { failed } = await push(context, connect(context.world.env, key));
    for (const { issue, message } of failed)
      context.warnings.push(`${issue}: ${message} It is kept: forge linear sync`);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    context.warnings.push(`Linear: ${error.message}`);
  }
}
