/** Exit codes by kind of error (docs/commands.md). 2 is only for usage: agents' hooks read it as "block". */
export const EXIT_CODES = {
  findings: 1,
  usage: 2,
  refused: 3,
  corrupted: 4,
  secret: 5,
  outside: 6,
  bug: 70,
  interrupted: 130,
} as const;
export type ErrorKind = keyof typeof EXIT_CODES;

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
  /** More fields of the JSON error line (`entries`, `operations`, …). */
  data?: Record<string, unknown> | undefined;
}

/** The only error that forge throws on purpose. `code` is stable, for programs; `message` is one line for people. */
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
    const { kind, code, message, exit } = this;
    const places = Object.entries({ hint, file, line, field, offset });
    const given = Object.fromEntries(places.filter(([, value]) => value !== undefined));
    return { kind, code, message, exit, ...given, ...data };
  }
}

const maker =
  (kind: ErrorKind) =>
  (code: string, message: string, details?: ErrorDetails): ForgeError =>
    new ForgeError(kind, code, message, details);

/** Wrong arguments or input: exit 2. */
export const usage = maker('usage');
/** Refused by a gate, a lock, trust or a role: exit 3. */
export const refused = maker('refused');
/** Stored state is damaged: exit 4. */
export const corrupted = maker('corrupted');
/** Git, the disk or another program failed: exit 6. */
export const outside = maker('outside');

/** What is wrong in a JSON, TOML or YAML text. YAML may not know the line. */
export class SyntaxProblem extends Error {
  constructor(
    message: string,
    /** 1-based. */
    readonly line?: number,
    /** 0-based, in UTF-16 units. JSON only. */
    readonly offset = 0,
  ) {
    super(message);
  }
}

/** What `parse` makes of the text. `explain` makes the error to throw of a syntax problem. */
export function explainSyntax<T>(
  parse: (text: string) => T,
  text: string,
  explain: (problem: SyntaxProblem) => Error,
): T {
  try {
    return parse(text);
  } catch (error) {
    throw error instanceof SyntaxProblem ? explain(error) : error;
  }
}

/** The result of `work`, or `otherwise` for an error that forge throws on purpose. */
export function unlessFailed<T, F>(otherwise: F, work: () => T): T | F {
  try {
    return work();
  } catch (error) {
    if (error instanceof ForgeError) return otherwise;
    throw error;
  }
}

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

/** Converts any thrown value. An unexpected one is a bug. */
export function toForgeError(error: unknown): ForgeError {
  if (error instanceof ForgeError) return error;
  const name = (error as Error)?.name;
  if (name === 'ExitPromptError' || name === 'AbortPromptError')
    return new ForgeError('interrupted', 'interrupted', 'Interrupted; nothing was changed.');
  const code = systemCode(error);
  const message = (error as Error)?.message ?? String(error);
  if (code && /^E[A-Z]+$/.test(code)) return outside(`disk.${code.toLowerCase()}`, message, { cause: error });
  return new ForgeError('bug', 'bug', `This is a bug in forge: ${message}`, {
    hint: 'Please report it with the lines below.',
    cause: error,
  });
}

/** Commands to install, repair or update forge, which runs from a clone until npm has it. */
const IN_CLONE = '   (in your clone of forge)';
export const LINK_HINT = `npm link${IN_CLONE}`;
export const REBUILD_HINT = `npm ci && npm run build${IN_CLONE}`;
export const UPDATE_HINT = `Update forge: git pull && npm ci && npm run build${IN_CLONE}`;
