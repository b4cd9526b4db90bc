import { checkText, oneLine } from '../text.js';
import { KINDS, type Kind, readKind } from './kfr.js';

/** The fields that an operation needs, and those that it takes besides. */
const SHAPES = {
  replace: { needs: ['kind', 'text'], takes: ['requires_resolution'] },
  add: { needs: ['kind', 'text'], takes: ['requires_resolution'] },
  remove: { needs: ['id'], takes: [] },
  resolve: { needs: ['id', 'resolution'], takes: [] },
  dismiss: { needs: ['id', 'reason'], takes: [] },
  park: { needs: ['id', 'reason'], takes: [] },
} as const satisfies Record<string, { needs: readonly string[]; takes: readonly string[] }>;
export type OperationName = keyof typeof SHAPES;
export const OPERATIONS = Object.keys(SHAPES) as OperationName[];

/** More than any working state takes; a patch is one step of an agent. */
export const MAX_OPERATIONS = 100;

/** One operation as it is given; its shape is checked here, so that each fault is told with its place. */
export type Operation = Readonly<Record<string, unknown>>;

/** Why one operation fails; `isMalformed`: it is none. */
export class Refused extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly isMalformed = false,
  ) {
    super(message);
  }
}

const malformed = (code: string, message: string): Refused => new Refused(code, message, true);

/** Its name, once it has all that it needs and nothing else. */
export function checkShape(operation: Operation): OperationName {
  if (typeof operation !== 'object' || operation === null || Array.isArray(operation))
    throw malformed(
      'not_an_object',
      'An operation is an object like {"op":"add","kind":"Constraint","text":"…"}.',
    );
  const { op } = operation;
  if (typeof op !== 'string' || !Object.hasOwn(SHAPES, op))
    throw malformed('unknown_op', `${shownValue(op)} is no operation. There are: ${OPERATIONS.join(', ')}.`);
  const { needs, takes } = SHAPES[op as OperationName] as {
    needs: readonly string[];
    takes: readonly string[];
  };
  for (const field of needs)
    if (typeof operation[field] !== 'string')
      throw malformed(
        'missing_field',
        `${op} needs "${field}", a text; found ${shownValue(operation[field])}.`,
      );
  const extra = Object.keys(operation).find((key) => key !== 'op' && ![...needs, ...takes].includes(key));
  if (extra !== undefined)
    throw malformed(
      'unknown_field',
      `${op} takes no ${shownValue(extra)}. It takes: ${[...needs, ...takes].join(', ')}.`,
    );
  const flag = operation.requires_resolution;
  if (flag !== undefined && typeof flag !== 'boolean')
    throw malformed('wrong_type', `"requires_resolution" is true or false; found ${shownValue(flag)}.`);
  return op as OperationName;
}

const shownValue = (value: unknown): string =>
  value === undefined ? 'nothing' : oneLine(JSON.stringify(value) ?? '?', 60);

export function kindOf(spelling: string): Kind {
  const kind = readKind(spelling);
  if (kind) return kind;
  throw new Refused('unknown_kind', `${shownValue(spelling)} is no kind. There are: ${KINDS.join(', ')}.`);
}

const MAX_WORDS_BYTES = 2000;

export function checkWords(field: 'resolution' | 'reason', operation: Operation): string {
  const words = (operation[field] as string).replace(/\s+/g, ' ').trim();
  return checkText(words, { what: `The ${field}`, maxBytes: MAX_WORDS_BYTES });
}
