import { formatArgv } from '../core/argv.js';
import { plural } from '../core/text.js';
import type { Evidence } from '../learning/evaluation.js';

/** GOV-04: what is to follow the record of a cycle. */
export interface CycleKeep {
  /** The digest of the working tree that was judged, `.forge/` left out. */
  tree: string;
  commit: boolean;
  /** Features that came to pass: a checkpoint is made for them. */
  checkpoint: string[];
}

/** What was made of it. */
export interface Kept {
  commit: { hash: string; short: string; subject: string } | null;
  /** The checkpoint's tag. */
  checkpoint: string | null;
}

const MAX_RUNS = 5;

/** What a commit says of the runs that its tree was judged by. */
export function describeRuns(evidence: readonly Evidence[]): string[] {
  const left = evidence.length - MAX_RUNS;
  return [
    ...evidence.slice(0, MAX_RUNS).map(({ argv, exit_code, feature }) => {
      const said = exit_code === 0 ? 'Passed' : 'Failed';
      return `${said}: ${formatArgv(argv)}${feature === undefined ? '' : ` (${feature})`}`;
    }),
    ...(left > 0 ? [`${plural(left, 'more run')} of tests`] : []),
  ];
}

/** In one line; empty where nothing was made. */
export function describeKept({ commit, checkpoint }: Kept): string {
  return [...(commit ? [`commit ${commit.short}`] : []), ...(checkpoint ? [checkpoint] : [])].join(', ');
}
