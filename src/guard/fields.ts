/** One text of a document, and where it stands: `features[2].title`. */
export interface Field {
  path: string;
  text: string;
}

const HASH = /^[0-9a-f]{7,64}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const SLUG = /^\d{4}-\d\d-\d\d-session-\d{3,9}-[0-9a-f]{4,16}$/;

/**
 * What forge itself writes, by the place where it does so, and only in the form that it has there: the same value
 * anywhere else is looked at like any text.
 */
const OWN: Record<string, RegExp> = {
  id: new RegExp(`${HASH.source}|${SLUG.source}`),
  /** As Linux names a boot. */
  boot: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  prev: HASH,
  seen: HASH,
  heads: HASH,
  ledger: HASH,
  subject: HASH,
  execution: HASH,
  execution_id: HASH,
  records: HASH,
  lost: HASH,
  voided: HASH,
  sha256: HASH,
  digest: HASH,
  tree: HASH,
  commit: HASH,
  head: HASH,
  head_at_start: HASH,
  key: HASH,
  salt: /^[0-9a-z]{1,62}$/,
  at: TIME,
  created_at: TIME,
  updated_at: TIME,
  started_at: TIME,
  ended_at: TIME,
  halted_at: TIME,
  verified_at: TIME,
  learned_at: TIME,
  session: SLUG,
  resumed_from: SLUG,
  resumed_by: SLUG,
};

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
  if (text === '' || (Object.hasOwn(OWN, key) && OWN[key]?.test(text))) return;
  fields.push({ path, text });
}
