/** What went wrong, as far as the caller can act on it. The kind alone decides the exit code. */
export type ErrorKind =
  | 'findings'
  | 'usage'
  | 'refused'
  | 'corrupted'
  | 'secret'
  | 'outside'
  | 'bug'
  | 'interrupted';

/** Exit codes of every command (docs/commands.md). 2 is usage only: agents read it as "block" in hooks. */
export const EXIT_CODES: Record<ErrorKind, number> = {
  findings: 1,
  usage: 2,
  refused: 3,
  corrupted: 4,
  secret: 5,
  outside: 6,
  bug: 70,
  interrupted: 130,
};

/** Where and what next: all optional, all shown when given. */
export interface ErrorDetails {
  /** The next command to type. */
  hint?: string | undefined;
  file?: string | undefined;
  /** 1-based. */
  line?: number | undefined;
  field?: string | undefined;
  /** 0-based, in bytes. */
  offset?: number | undefined;
  cause?: unknown;
  /** Further machine-readable fields of the error line (`entries`, `operations`, …). */
  data?: Record<string, unknown> | undefined;
}

/** The only error forge throws on purpose. `code` is a stable word for machines; `message` one line for people. */
export class ForgeError extends Error {
  override readonly name = 'ForgeError';

  constructor(
    readonly kind: ErrorKind,
    readonly code: string,
    message: string,
    readonly details: ErrorDetails = {},
  ) {
    super(message, { cause: details.cause });
  }

  get exit(): number {
    return EXIT_CODES[this.kind];
  }

  get hint(): string | undefined {
    return this.details.hint;
  }

  /** The value of `error` in the JSON error line. */
  toJSON(): Record<string, unknown> {
    const { hint, file, line, field, offset, data } = this.details;
    const places = { hint, file, line, field, offset };
    const given = Object.entries(places).filter(([, value]) => value !== undefined);
    return {
      kind: this.kind,
      code: this.code,
      message: this.message,
      exit: this.exit,
      ...Object.fromEntries(given),
      ...data,
    };
  }
}

type Maker = (code: string, message: string, details?: ErrorDetails) => ForgeError;
const maker =
  (kind: ErrorKind): Maker =>
  (code, message, details) =>
    new ForgeError(kind, code, message, details);

/** The call's words are off: exit 2. */
export const usage = maker('usage');
/** A gate, a lock, trust or a role says no: exit 3. */
export const refused = maker('refused');
/** Stored state is damaged: exit 4. */
export const corrupted = maker('corrupted');
/** Git, the disk or another program failed: exit 6. */
export const outside = maker('outside');

/** A wrong call that says nothing of what to type next says this; any other error stays as it is. */
export function withHint(error: unknown, hint: string): unknown {
  if (!(error instanceof ForgeError) || error.kind !== 'usage' || error.hint !== undefined) return error;
  const hinted = usage(error.code, error.message, { ...error.details, hint });
  return Object.assign(hinted, { stack: error.stack });
}

/** The `code` of a Node system error ("ENOENT"), or undefined. */
export function systemCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** Every thrown value as an error that can be reported: an unexpected one is a bug. */
export function toForgeError(error: unknown): ForgeError {
  if (error instanceof ForgeError) return error;
  const name = (error as Error)?.name;
  if (name === 'ExitPromptError' || name === 'AbortPromptError')
    return new ForgeError('interrupted', 'interrupted', 'Interrupted; nothing was changed.');
  const code = systemCode(error);
  if (code && /^E[A-Z]+$/.test(code))
    return new ForgeError('outside', `disk.${code.toLowerCase()}`, (error as Error).message, {
      cause: error,
    });
  return new ForgeError(
    'bug',
    'bug',
    `This is a bug in forge: ${(error as Error)?.message ?? String(error)}`,
    {
      hint: 'Please report it with the lines below.',
      cause: error,
    },
  );
}

/** Commands to install, repair or update forge. npm does not have it yet, so it runs from a clone. */
const IN_CLONE = '   (in your clone of forge)';
export const LINK_HINT = `npm link${IN_CLONE}`;
export const REBUILD_HINT = `npm ci && npm run build${IN_CLONE}`;
export const UPDATE_HINT = `Update forge: git pull && npm ci && npm run build${IN_CLONE}`;
