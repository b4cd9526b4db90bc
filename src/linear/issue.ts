import { join } from 'node:path';
import * as z from 'zod/mini';
import { trivariate } from '../artifact/artifact.js';
import { refused, usage } from '../core/error.js';
import { doneIssueFile, doneIssuesFolder, formsFolder } from '../core/paths.js';
import { checkId, checkInput, decodeUtf8, encodeDocument } from '../core/schema.js';
import { checkText, oneLine } from '../core/text.js';
import { UNIT } from '../feature/tasks.js';
import { changeActive, readIssues } from '../learning/knowledge.js';
import { type Context, timestamp } from '../project/project.js';
import { setFocus } from '../session/focus.js';
import { sessionName } from '../session/rules.js';
import { readRunning } from '../session/running.js';
import { checkAnswers, type Form, parseForm } from './form.js';
import { enqueue } from './queue.js';
import { branchName, fromAnswers, type Issue, nextLocalId, toIssue, uuidFrom } from './rules.js';
import { workspacePackages } from './workspace.js';

/** Active issues, without forge's own investigations. */
export const activeIssues = (context: Context): Issue[] =>
  readIssues(context)
    .issues.filter(({ type }) => type !== 'investigation')
    .map(toIssue);

const doneIds = ({ disk, layout }: Context): string[] =>
  disk.list(doneIssuesFolder(layout)).flatMap((name) => /^(.+)\.json$/.exec(name)?.[1] ?? []);

const readDone = ({ disk, layout }: Context, id: string): Issue | null => {
  const unit = disk.readDocument(UNIT, doneIssueFile(layout, id), null).value;
  return unit === null ? null : toIssue(unit);
};

/** An issue by its id, in any case; exit 2 when nobody knows it. */
export function requireIssue(context: Context, id: string): { issue: Issue; isActive: boolean } {
  checkId(id, 'issue id');
  const isMeant = (other: string): boolean => other.toLowerCase() === id.toLowerCase();
  const active = activeIssues(context).find(({ linear_id }) => isMeant(linear_id));
  if (active) return { issue: active, isActive: true };
  const done = doneIds(context).find(isMeant);
  const issue = done === undefined ? null : readDone(context, done);
  if (issue) return { issue, isActive: false };
  throw usage('linear.unknown', `There is no issue ${oneLine(id, 80)} here.`, {
    hint: 'forge linear list\nforge linear pull   # gets those that are assigned to you',
  });
}

export function requireActive(context: Context, id: string): Issue {
  const { issue, isActive } = requireIssue(context, id);
  if (isActive) return issue;
  throw refused('linear.done', `Issue ${issue.linear_id} is done.`, {
    hint: `forge linear show ${issue.linear_id}`,
  });
}

/** Replaces one active issue. Caller holds the lock. */
export const replaceIssue = (context: Context, id: string, change: (issue: Issue) => Issue): void =>
  changeActive(context, (units) =>
    units.map((unit) => (unit.linear_id === id ? change(toIssue(unit)) : unit)),
  );

export interface IssueList {
  issues: Issue[];
  /** Issues that are done, newest first. */
  done: string[];
  /** Active ones that were started, and that no commit names (LIN-04). `status` has the commits that name no issue. */
  without_commits: string[];
}

export async function listIssues(context: Context): Promise<IssueList> {
  const issues = activeIssues(context);
  const idle = issues.filter(({ state, git_refs }) => state === 'started' && git_refs.commits.length === 0);
  return {
    issues,
    done: doneIds(context).reverse(),
    without_commits: idle.map(({ linear_id }) => linear_id),
  };
}

export const showIssue = async (context: Context, { id }: { id: string }): Promise<Issue> =>
  requireIssue(context, id).issue;

/** The names of the forms in `.forge/linear/templates/`. */
export async function listForms({ disk, layout }: Context): Promise<{ templates: string[] }> {
  return {
    templates: disk.list(formsFolder(layout)).flatMap((name) => /^([\w-]+)\.ya?ml$/.exec(name)?.[1] ?? []),
  };
}

/** A form with the packages of this workspace filled in; exit 2 when there is none of that name. */
export async function readForm(context: Context, { name }: { name: string }): Promise<Form> {
  const { templates } = await listForms(context);
  if (!templates.includes(name))
    throw usage('linear.no_form', `There is no form ${oneLine(name, 60)}.`, {
      hint: `forge linear new --template ${templates[0] ?? 'feature'}`,
    });
  const file = `.forge/linear/templates/${name}.yaml`;
  const bytes =
    context.disk.read(join(formsFolder(context.layout), `${name}.yaml`)) ??
    context.disk.read(join(formsFolder(context.layout), `${name}.yml`)) ??
    Buffer.alloc(0);
  return parseForm(decodeUtf8(bytes, file), file, workspacePackages(context.layout.root));
}

export const NewIssueInput = z.strictObject({
  template: z.optional(z.string()),
  answers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
});

/** LIN-02: an issue from a form. Exit 2 names every broken rule. */
export async function newIssue(context: Context, raw: z.infer<typeof NewIssueInput>): Promise<Issue> {
  const { template, answers } = checkInput(NewIssueInput, raw);
  const problems =
    template === undefined ? [] : checkAnswers(await readForm(context, { name: template }), answers);
  if (problems.length > 0)
    throw usage('linear.answers', `The form is not complete: ${problems.join('; ')}.`, {
      hint: `forge linear new --template ${template}   # asks at a terminal`,
    });
  for (const [name, value] of Object.entries(answers))
    for (const text of [value].flat().filter((each) => each.trim() !== '')) checkText(text, { what: name });
  const now = timestamp(context);
  return context.disk.withLock(() => {
    const used = [...readIssues(context).issues.map(({ linear_id }) => linear_id), ...doneIds(context)];
    const issue = fromAnswers(nextLocalId(used), template ?? 'feature', answers, now);
    changeActive(context, (units) => [...units, issue]);
    return issue;
  });
}

export interface StartedIssue {
  issue: Issue;
  branch: string;
  skill: string | null;
}

/** Sets focus, branch name and harness mode; the skill that fits becomes active (SKL-06). */
export async function startIssue(context: Context, { id }: { id: string }): Promise<StartedIssue> {
  const issue = requireActive(context, id);
  const focus = setFocus(context, { task: `${issue.linear_id}: ${issue.title}`, issue: issue.linear_id });
  const branch = issue.git_refs.branch ?? branchName(issue);
  const running = readRunning(context);
  const origin = {
    session: running ? sessionName(running.id) : null,
    issue: issue.linear_id,
    skill: focus.skill ?? null,
  };
  const content = [issue.title, issue.description, ...issue.acceptance_criteria].join('\n');
  const triv = trivariate(
    Buffer.from(content),
    { path: `linear/${issue.linear_id}`, type: issue.type },
    origin,
  );
  const started: Issue = {
    ...issue,
    state: 'started',
    memory_trace: { ...issue.memory_trace, context_snapshot: triv },
    agent_state: {
      ...issue.agent_state,
      assigned_persona: issue.agent_state.assigned_persona ?? 'Forge',
      harness_mode: 'Build',
    },
    git_refs: { ...issue.git_refs, branch },
    updated_at: timestamp(context),
  };
  context.disk.withLock(() => replaceIssue(context, issue.linear_id, () => started));
  if (issue.uuid)
    enqueue(context, { kind: 'state', issue: issue.linear_id, uuid: issue.uuid, type: 'started' });
  return { issue: started, branch, skill: focus.skill ?? null };
}

export const DoneInput = z.strictObject({ id: z.string(), summary: z.optional(z.string()) });

/** LIN-04: a done issue moves to `linear/history/` with its summary. */
export async function finishIssue(context: Context, raw: z.infer<typeof DoneInput>): Promise<Issue> {
  const { id, summary } = checkInput(DoneInput, raw);
  if (summary !== undefined) checkText(summary, { what: 'The summary' });
  const issue = requireActive(context, id);
  const done: Issue = {
    ...issue,
    state: 'done',
    updated_at: timestamp(context),
    ...(summary === undefined ? {} : { summary }),
  };
  moveToHistory(context, done);
  if (issue.uuid) {
    if (summary !== undefined) {
      const uuid = uuidFrom(`done ${issue.uuid}`);
      enqueue(context, {
        kind: 'comment',
        issue: issue.linear_id,
        uuid: issue.uuid,
        id: uuid,
        body: summary,
      });
    }
    enqueue(context, { kind: 'state', issue: issue.linear_id, uuid: issue.uuid, type: 'completed' });
  }
  return done;
}

/** The file comes first: a crash in between leaves the issue in both places, and the next move completes it. */
export function moveToHistory(context: Context, done: Issue): void {
  const { disk, layout } = context;
  disk.withLock(() => {
    const file = doneIssueFile(layout, done.linear_id);
    disk.makeFolder(doneIssuesFolder(layout));
    disk.replace(file, encodeDocument({ schema_version: UNIT.version, ...done }));
    changeActive(context, (units) => units.filter(({ linear_id }) => linear_id !== done.linear_id));
  });
}
