/** One text of a document, and where it stands: `features[2].title`. */
export interface Field {
  path: string;
  text: string;
}

const HASH = /^[0-9a-f]{7,64}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const SLUG = /^\d{4}-\d\d-\d\d-session-\d{3,9}-[0-9a-f]{4,16}$/;

const keyed = (keys: string, form: RegExp): [string, RegExp][] => keys.split(' ').map((key) => [key, form]);

/**
 * What forge itself writes, by the place where it does so, and only in the form that it has there: the same value
 * anywhere else is looked at like any text.
 */
const OWN: ReadonlyMap<string, RegExp> = new Map([
  ...keyed('id', new RegExp(`${HASH.source}|${SLUG.source}`)),
  // As Linux names a boot.
  ...keyed('boot', /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  ...keyed('prev seen heads ledger subject execution execution_id records lost voided sha256 digest', HASH),
  ...keyed('tree commit head head_at_start key', HASH),
  ...keyed('salt', /^[0-9a-z]{1,62}$/),
  ...keyed('at created_at updated_at started_at ended_at halted_at verified_at learned_at', TIME),
  ...keyed('session resumed_from resumed_by', SLUG),
]);

/**
 * Every text of a JSON value with its key before it, for a key may be what makes a value a secret. Numbers that could be
 * a card's count as text. Keys are texts too.
 */
export function flatten(value: unknown, path = ''): Field[] {
  const fields: Field[] = [];
  visit(value, path, '', fields);
  return fields;
}

function visit(value: unknown, path: string, key: string, fields: Field[]): void {
  if (typeof value === 'string') addText(value, path, key, fields);
  else if (typeof value === 'number' && Math.abs(value) >= 1e7) addText(String(value), path, key, fields);
  else if (Array.isArray(value))
    for (const [i, item] of value.entries()) visit(item, `${path}[${i}]`, key, fields);
  else if (typeof value === 'object' && value !== null)
    for (const [name, item] of Object.entries(value))
      visit(item, path === '' ? name : `${path}.${name}`, name, fields);
}

function addText(text: string, path: string, key: string, fields: Field[]): void {
  if (text === '' || OWN.get(key)?.test(text)) return;
  fields.push({ path, text });
}
