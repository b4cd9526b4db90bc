import { isAbsolute, join } from 'node:path';
import { verifyCheckpoints } from '../checkpoint/verify.js';
import { type CheckedCommit, checkCommits } from '../commit/check.js';
import { shownFrom } from '../core/paths.js';
import { plural } from '../core/text.js';
import { scanTree } from '../guard/scan-tree.js';
import { glanceAtMemory, problemsOf } from '../ledger/integrity.js';
import { readHalt } from '../project/halt.js';
import { type Context, readConfig } from '../project/project.js';
import { findTracked } from '../project/tracked.js';
import { type CiRange, describeRange } from './range.js';
import { type CiCause, type CiFinding, type Looked, looked, skipped } from './rules.js';

/** A place in the project of `.forge/` as git and annotations have it: from the top of the repository. */
export function fromTop(
  { layout, repository }: Context,
  file: string | undefined,
  line = 0,
): Pick<CiFinding, 'file' | 'line'> {
  if (file === undefined || file === '' || isAbsolute(file)) return {};
  const name = repository ? shownFrom(repository.root, join(layout.root, file)) : file;
  return { file: name, ...(line > 0 ? { line } : {}) };
}

export async function lookAtCommits(context: Context, found: CiRange): Promise<Looked> {
  if (readConfig(context).commit.enforce === 'off') return skipped('[commit] enforce = "off"');
  const { commits } = await checkCommits(context.layout.root, context.world, { range: found.range });
  const exempt = commits.filter((commit) => commit.exempt !== undefined).length;
  const detail = `${describeRange(found)}${exempt > 0 ? `, ${exempt} exempt` : ''}`;
  return looked(detail, commits.flatMap(commitFindings));
}

/** One a commit. Secrets in messages are the guard's to tell. What waits to be squashed is exempt elsewhere, but stays no commit. */
function commitFindings({ sha = '', subject, exempt, problems }: CheckedCommit): CiFinding[] {
  const wrong = problems.filter(({ rule }) => rule !== 'secret');
  const said = wrong.map(({ message }) => message);
  if (exempt === 'fixup') {
    const fix = 'git rebase -i --autosquash   (from before the commit that it belongs to)';
    return [{ message: [`"${subject}" is still to be squashed.`, ...said].join(' '), fix, commit: sha }];
  }
  if (said.length === 0) return [];
  const fix = `forge commit check --range ${sha.slice(0, 12)}^!   (says what to write)`;
  return [{ message: [`"${subject}":`, ...said].join(' '), fix, commit: sha }];
}

export async function lookAtMemory(context: Context): Promise<Looked> {
  const verdict = await glanceAtMemory(context);
  const notes = verdict.findings.filter(({ level }) => level === 'note');
  const findings: CiFinding[] = [];
  for (const { code, file, line, message, hint } of problemsOf(context, verdict)) {
    // A revert is no damage: whoever made it decides.
    if (code === 'removed_by_commit') context.warnings.push(`${message}: ${hint}`);
    else findings.push({ message, fix: hint, ...fromTop(context, file, line) });
  }
  context.warnings.push(...notes.map(({ message }) => message));
  const halt = readHalt(context.disk);
  if (halt)
    findings.push({
      message: `memory is halted: ${halt.reasons[0] ?? 'it was found damaged'}`,
      fix: 'forge memory override acknowledge --reason "…"',
    });
  const tracked = await findTracked(context);
  if (tracked) findings.push(tracked);
  const isDamaged = halt !== null || verdict.state === 'corrupted';
  const cause: CiCause = isDamaged ? 'corrupted' : verdict.state === 'returned' ? 'secret' : 'findings';
  return looked(plural(verdict.records, 'record'), findings, cause);
}

export async function lookForSecrets(
  context: Context,
  found: CiRange,
  baseline: string | undefined,
): Promise<Looked> {
  const { layout, world } = context;
  const known = baseline === undefined ? {} : { baseline };
  const { findings, scanned } = await scanTree(layout.root, world, { range: found.range, ...known });
  const told = findings.map(
    ({ file, line, what, rule, commit }): CiFinding => ({
      // Where a message is meant there is no file of that name.
      ...(file === 'commit message' ? {} : { file, line }),
      ...(commit === undefined ? {} : { commit }),
      message: `${file === 'commit message' ? `line ${line} of the message: ` : ''}${what} (rule ${rule})`,
      fix: 'the same commit without it; if it is real, revoke it',
    }),
  );
  return looked(`${plural(scanned, 'added place')} in ${plural(found.commits, 'commit')}`, told, 'secret');
}

export async function lookAtCheckpoints(context: Context): Promise<Looked> {
  const { checkpoints, findings } = await verifyCheckpoints(context);
  return looked(
    plural(checkpoints.length, 'checkpoint'),
    findings.map(({ message, hint }) => ({ message, fix: hint })),
  );
}
