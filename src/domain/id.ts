import { usage } from './error.js';
import { oneLine } from './text.js';

/** Ids are file names on every system: no path, no option, no drive, at most 64 characters. */
export const ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
// Windows opens a device for these, with any extension.
const DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$/i;

export function isId(id: string): boolean {
  return ID_PATTERN.test(id) && !id.includes('..') && !id.endsWith('.') && !DEVICE.test(id);
}

/** Returns the id, or throws exit 2. */
export function checkId(id: string, what = 'id'): string {
  if (isId(id)) return id;
  throw usage('id.invalid', `${JSON.stringify(oneLine(id, 80))} is no valid ${what}.`, {
    hint: 'An id starts with a letter or digit and has letters, digits, ".", "_" and "-", at most 64 in all.',
  });
}

/** The record that `id` names, or would collide with on a case-insensitive disk. */
export function findTwin<T extends { id: string }>(records: readonly T[], id: string): T | undefined {
  const key = id.toLowerCase();
  return records.find((record) => record.id.toLowerCase() === key);
}

/** The record named exactly; the nearest names are in the hint of the exit-2 error otherwise. */
export function requireRecord<T extends { id: string }>(records: readonly T[], id: string, what: string): T {
  const found = records.find((record) => record.id === id);
  if (found) return found;
  const twin = findTwin(records, id);
  throw usage(`${what}.unknown`, `There is no ${what} ${JSON.stringify(oneLine(id, 80))}.`, {
    hint: twin ? `Did you mean ${twin.id}?` : `forge ${what} list`,
  });
}
