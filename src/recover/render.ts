import { columns, type Style } from '../cli/style.js';
import { oneLine, plural } from '../core/text.js';
import type { BackupList, InspectedCheckpoint, Recovered, RecoveryPlan, Undone } from '../index.js';
import { lacksCheckpoint } from './rules.js';

export type RecoverAnswer = RecoveryPlan | Recovered | Undone | BackupList | InspectedCheckpoint;

export function renderRecover(answer: RecoverAnswer, style: Style): string {
  if ('backups' in answer) return renderBackups(answer, style);
  if ('undone' in answer) return renderUndone(answer, style);
  if ('worktree' in answer) return renderWorktree(answer, style);
  return [renderPlan(answer, style), ...('next' in answer ? [renderDone(answer, style)] : [])].join('\n\n');
}

const WORDS = {
  continue: 'go on, with fixes',
  rollback: 'roll back to the checkpoint',
  alert: 'stop, and let a human look',
} as const;

/** The table that decides, and what it says. */
export function renderPlan({ checkpoint, divergence, decision, rules }: RecoveryPlan, style: Style): string {
  const { insertions, deletions, behind, in_the_way, features_lost } = divergence;
  const rows = rules.map(({ rule, value, limit, holds, otherwise }) => [
    holds ? style.good('✓') : style.bad('✗'),
    rule.replaceAll('_', ' '),
    oneLine(String(value), 200),
    style.dim(typeof limit === 'number' ? `at most ${limit}` : limit),
    holds ? '' : `→ ${otherwise}`,
  ]);
  const more = [
    insertions === null
      ? 'lines not counted: git has not got every file of the checkpoint'
      : `${plural(insertions, 'line')} added, ${deletions} removed`,
    ...(behind > 0 ? [`${plural(behind, 'commit')} of the checkpoint missing here`] : []),
    ...(features_lost.length > 0 ? [`lost: ${features_lost.map((id) => oneLine(id, 60)).join(', ')}`] : []),
    ...(in_the_way.length > 0
      ? [
          `ignored files in the way: ${in_the_way
            .slice(0, 5)
            .map((path) => oneLine(path, 100))
            .join(', ')}`,
        ]
      : []),
  ];
  const title = checkpoint
    ? `${style.strong(checkpoint.tag)}  ${style.dim(`${checkpoint.commit.slice(0, 12)}, ${style.time(checkpoint.timestamp)}`)}`
    : 'No checkpoint to compare with. While all works: forge checkpoint create';
  const verdict = lacksCheckpoint(rules)
    ? 'Without one, forge recover does nothing.'
    : `${style.strong(decision)}: ${WORDS[decision]}`;
  return `${title}\n${columns(rows, '  ').replace(/ +$/gm, '')}\n  ${style.dim(more.join('; '))}\n${verdict}`;
}

function renderDone({ decision, backup_ref, commit, next }: Recovered, style: Style): string {
  const todo = next.map((line) => `  ${oneLine(line, 400)}`);
  if (decision === 'alert') return [style.warn('Paused.'), ...todo].join('\n');
  if (decision === 'continue') return ['Go on. To do:', ...todo].join('\n');
  if (backup_ref === undefined) return 'Nothing was done.';
  const what = commit ? `commit ${commit.slice(0, 12)}` : 'no commit was needed';
  const kept = backup_ref === null ? 'nothing differed' : `all that changed is in ${backup_ref}`;
  return [`${style.good('✓')} Rolled back (${what}); ${kept}`, ...todo].join('\n');
}

function renderUndone({ undone, commit, files, backup_ref, planned }: Undone, style: Style): string {
  const what = `${undone}: ${plural(files, 'file')} as ${files === 1 ? 'it was' : 'they were'}${commit && !planned ? `, commit ${commit.slice(0, 12)}` : ''}`;
  if (planned) return `would bring back ${what}`;
  const newer = backup_ref === null ? '' : `\n  newer work is in ${backup_ref}`;
  return `${style.good('✓')} Brought back ${what}${newer}`;
}

function renderBackups({ backups }: BackupList, style: Style): string {
  if (backups.length === 0) return 'No backups: nothing was rolled back here.';
  return columns(
    backups.map(({ ref, at, subject, here }) => [
      style.strong(ref),
      style.dim(style.time(at)),
      `${oneLine(subject, 100)}${here ? '' : style.dim('  (another worktree)')}`,
    ]),
  );
}

const renderWorktree = ({ checkpoint, worktree }: InspectedCheckpoint, style: Style): string =>
  worktree === null
    ? `would put ${checkpoint.tag} into a worktree`
    : `${style.good('✓')} ${checkpoint.tag} is in ${worktree}\n  ${style.dim(`remove it with: git worktree remove ${worktree}`)}`;
