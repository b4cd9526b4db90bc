import { type CommitMessage, parseCommitMessage } from './message.js';

/**
 * A pull request says what its commits said, in the form of one: squashed with this text it is in the protocol. `draft` is
 * what is not committed yet.
 */
export function gatherMessages(draft: CommitMessage, texts: readonly string[]): CommitMessage {
  const commits = texts.flatMap((text) => parseCommitMessage(text) ?? []);
  const last = commits.at(-1);
  if (!last) return draft;
  const all = (pick: (message: CommitMessage) => readonly string[]): string[] => [
    ...new Set([...commits, draft].flatMap(pick)),
  ];
  const reasons = [...new Set(commits.map(({ why }) => why).filter((why) => why !== ''))];
  const alone = commits.length === 1;
  return {
    id: last.id,
    subject: draft.subject !== '' && !alone ? draft.subject : last.subject,
    what: all(({ what }) => what),
    why: reasons.join('\n\n') || draft.why,
    learned: all(({ learned }) => learned),
    updated: all(({ updated }) => updated),
    backtrace: {
      ...draft.backtrace,
      // Where the branch began, as its first commit knew it.
      parent: commits[0]?.backtrace.parent || 'none',
      parentNote: commits[0]?.backtrace.parentNote ?? 'where this branch began',
      linear: last.backtrace.linear || draft.backtrace.linear,
    },
  };
}
