import { EXIT_CODES } from '../core/error.js';

/** What `forge ci` looks at, in this order. */
export const CI_CHECKS = ['commits', 'memory', 'guard', 'features', 'checkpoints'] as const;
export type CiCheckName = (typeof CI_CHECKS)[number];

/** Something that is wrong, where it is, and what to do. */
export interface CiFinding {
  message: string;
  /** It is reported, and fails nothing. */
  warning?: true;
  fix?: string;
  /** From the top of the repository. */
  file?: string;
  /** 1-based. */
  line?: number;
  /** The commit that it is in. */
  commit?: string;
  /** Of a test that failed: the end of what it said. */
  output?: string;
}

/** Why a check failed. Of several the first one here decides: what was found counts before what could not be looked at. */
export const CI_CAUSES = ['corrupted', 'secret', 'findings', 'refused', 'outside'] as const;
export type CiCause = (typeof CI_CAUSES)[number];

export interface CiCheck {
  name: CiCheckName;
  /** `warned`: its findings are all warnings. */
  state: 'ok' | 'warned' | 'failed' | 'skipped';
  /** Of a failed one. */
  cause?: CiCause;
  /** What was looked at: `12 commits`; or why it was skipped. */
  detail: string;
  findings: CiFinding[];
}

export interface CiReport {
  ok: boolean;
  /** Of commits; null when there were none to look at, or it is not known which. */
  range: string | null;
  /** What said so: a flag, a variable, or git. */
  range_from: string | null;
  checks: CiCheck[];
  /** What is not wrong, and good to know. */
  notes: string[];
}

/** A check that looked: failed with findings that are no warnings. */
export type Looked = Omit<CiCheck, 'name'>;
export function looked(detail: string, findings: CiFinding[] = [], cause: CiCause = 'findings'): Looked {
  if (findings.some(({ warning }) => !warning)) return { state: 'failed', cause, detail, findings };
  return { state: findings.length > 0 ? 'warned' : 'ok', detail, findings };
}
export const skipped = (detail: string): Looked => ({ state: 'skipped', detail, findings: [] });

/** By cause, the gravest (docs/ci.md). */
export function ciExit({ checks }: Pick<CiReport, 'checks'>): number {
  const cause = CI_CAUSES.find((name) => checks.some((check) => check.cause === name));
  return cause === undefined ? 0 : EXIT_CODES[cause];
}

/** How a log is written; `plain` is for a system that has no form of its own. */
export const CI_FORMATS = ['github', 'gitlab', 'plain'] as const;
export type CiFormat = (typeof CI_FORMATS)[number];

/** Which system runs this, by the variable that each documents. */
export const ciFormat = (env: Record<string, string | undefined>): CiFormat =>
  env.GITHUB_ACTIONS === 'true' ? 'github' : env.GITLAB_CI === 'true' ? 'gitlab' : 'plain';
