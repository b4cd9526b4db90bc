import { join } from 'node:path';
import * as z from 'zod/mini';
import { trivariate } from '../artifact/artifact.js';
import { usage } from '../core/error.js';
import { formsFolder } from '../core/paths.js';
import { checkInput, decodeUtf8 } from '../core/schema.js';
import { checkText, oneLine } from '../core/text.js';
import { usesClaims } from '../events/local-claims.js';
import { changeActive, readActive } from '../feature/store.js';
import { readBranch } from '../git/repository.js';
import { type Context, timestamp } from '../project/project.js';
import { leaveIssue, turnFocus } from '../session/focus.js';
import { sessionName } from '../session/rules.js';
import { readRunning } from '../session/running.js';
import { checkAnswers, type Form, parseForm } from './form.js';
import {
  doneIds,
  enqueue,
  moveToHistory,
  reopenIssue,
  replaceIssue,
  requireActive,
  requireIssue,
} from './issue.js';
import { branchName, fromAnswers, type Issue, uuidFrom } from './rules.js';
import { workspacePackages } from './workspace.js';

export async function listForms({ disk, layout }: Context): Promise<{ templates: string[] }> {
  return {
    templates: disk.list(formsFolder(layout)).flatMap((name) => /^([\w-]+)\.ya?ml$/.exec(name)?.[1] ?? []),
  };
}

/** A form with the packages of this workspace filled in. Exit 2 for an unknown name. */
export async function readForm(context: Context, { name }: { name: string }): Promise<Form> {
  const { templates } = await listForms(context);
  if (!templates.includes(name))
    throw usage('linear.no_form', `There is no form ${oneLine(name, 60)}.`, {
      hint: `forge linear new --template ${templates[0] ?? 'feature'}`,
    });
  const path = join(formsFolder(context.layout), name);
  const bytes = context.disk.read(`${path}.yaml`) ?? context.disk.read(`${path}.yml`) ?? Buffer.alloc(0);
  const file = `.forge/linear/templates/${name}.yaml`;
  return parseForm(decodeUtf8(bytes, file), file, workspacePackages(context.layout.root));
}

const NewIssueInput = z.strictObject({
  template: z.optional(z.string()),
  answers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
});

/** LIN-02: an issue from a form. Exit 2 names every broken rule. */
export async function newIssue(context: Context, raw: z.infer<typeof NewIssueInput>): Promise<Issue> {
  const { template, answers } = checkInput(NewIssueInput, raw);
  const form = template === undefined ? null : await readForm(context, { name: template });
  const problems = form ? checkAnswers(form, answers) : [];
  if (form && problems.length > 0)
    throw usage('linear.answers', `The form is not complete: ${problems.join('; ')}.`, {
      hint: `forge linear new --template ${template} --field NAME=VALUE   # ${form.fields.map(({ name }) => name).join(', ')}`,
    });
  if (!form) checkText([answers['title'] ?? ''].flat().join(''), { what: 'The title' });
  for (const [name, value] of Object.entries(answers))
    for (const text of [value].flat().filter((each) => each.trim() !== '')) checkText(text, { what: name });
  return context.disk.withLock(() => {
    const used = [...readActive(context).map(({ linear_id }) => linear_id), ...doneIds(context)];
    const issue = fromAnswers(used, template ?? 'feature', answers, timestamp(context));
    changeActive(context, (units) => [...units, issue]);
    return issue;
  });
}

export interface StartedIssue {
  issue: Issue;
  reopened: boolean;
  branch: string;
  /** The checked-out branch. Null without git or on a detached HEAD. */
  current: string | null;
  skill: string | null;
}

/** Sets focus, branch name and harness mode; the skill that fits becomes active (SKL-06). A done issue is active again. */
export async function startIssue(context: Context, { id }: { id: string }): Promise<StartedIssue> {
  const { issue, isActive } = requireIssue(context, id);
  if (!isActive) reopenIssue(context, issue);
  const task = `${issue.linear_id}: ${issue.title}`;
  const { skill = null } = await turnFocus(context, { task, issue: issue.linear_id });
  const branch = issue.git_refs.branch ?? branchName(issue);
  const running = readRunning(context);
  const content = [issue.title, issue.description, ...issue.acceptance_criteria].join('\n');
  const place = { path: `linear/${issue.linear_id}`, type: issue.type };
  const origin = { session: running && sessionName(running.id), issue: issue.linear_id, skill };
  const triv = trivariate(Buffer.from(content), place, origin);
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
    enqueue(context, {
      ...{ kind: 'state', issue: issue.linear_id, uuid: issue.uuid, type: 'started' },
      ...(isActive ? {} : { reopens: true }),
    });
  const { git, repository } = context;
  const current = git && repository ? await readBranch(repository, git) : null;
  return { issue: started, reopened: !isActive, branch, current, skill };
}

const DoneInput = z.strictObject({ id: z.string(), summary: z.optional(z.string()) });

/** LIN-04: a done issue moves to `linear/history/` with its summary. */
export async function finishIssue(context: Context, raw: z.infer<typeof DoneInput>): Promise<Issue> {
  const { id, summary } = checkInput(DoneInput, raw);
  if (summary !== undefined) checkText(summary, { what: 'The summary' });
  const issue = requireActive(context, id);
  const claims = usesClaims(context) ? await import('../events/claim-work.js') : null;
  await claims?.refuseHeld(context, issue.linear_id);
  const done: Issue = {
    ...issue,
    state: 'done',
    updated_at: timestamp(context),
    ...(summary === undefined ? {} : { summary }),
  };
  moveToHistory(context, done);
  if (issue.uuid) {
    const place = { issue: issue.linear_id, uuid: issue.uuid };
    if (summary !== undefined)
      enqueue(context, { ...place, kind: 'comment', id: uuidFrom(`done ${issue.uuid}`), body: summary });
    enqueue(context, { ...place, kind: 'state', type: 'completed' });
  }
  await claims?.finishClaim(context, issue.linear_id);
  await leaveIssue(context, issue.linear_id);
  return done;
}
