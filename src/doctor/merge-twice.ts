import { ForgeError } from '../core/error.js';
import { JsonProblem, parseJson } from '../core/json.js';
import { encodeDocument } from '../core/schema.js';
import { type Choice, type Fields, isFields } from './merge-fields.js';
import { mergeState, STATE_KINDS } from './merge-state.js';

/**
 * Without a conflict a merge by lines may leave an id twice: both sides added it, each in a place of its own. The file with
 * one record of each, the one further up for ours; nothing says what both came from, so nothing is taken out, and a proof
 * stands only if both have it. Null where no id stands twice, and for what cannot be read otherwise.
 */
export function mergeTwice(
  bytes: Buffer,
  file: string,
): { bytes: Buffer; choices: Choice[]; ids: string[] } | null {
  try {
    const [path, kind] = Object.entries(STATE_KINDS.issues.lists)[0] as [string, { keyOf: KeyOf }];
    const document = parseJson(bytes.toString('utf8'));
    const list = isFields(document) ? document[path] : null;
    if (!isFields(document) || !Array.isArray(list) || !list.every(isFields)) return null;
    const [first, ...others] = layersOf(list, kind.keyOf);
    if (!first || others.length === 0) return null;
    const ids = [...new Set(others.flat().map(kind.keyOf))];
    const choices: Choice[] = [];
    const asFile = (records: Fields[]): Buffer => encodeDocument({ ...document, [path]: records });
    const merged = others.reduce((ours, layer) => {
      const made = mergeState('issues', { ours, theirs: asFile(layer), base: null }, file, false);
      choices.push(
        ...made.choices.filter(({ id, field }) => field !== null && id !== null && ids.includes(id)),
      );
      return made.bytes;
    }, asFile(first));
    return { bytes: merged, choices, ids };
  } catch (error) {
    // What else is wrong with the file is told by who reads it.
    if (error instanceof JsonProblem || error instanceof ForgeError) return null;
    throw error;
  }
}

type KeyOf = (record: unknown) => string;

/** The first record of each id, then the second of those that have one, and so on. */
function layersOf(records: readonly Fields[], keyOf: KeyOf): Fields[][] {
  const layers: Fields[][] = [];
  const counts = new Map<string, number>();
  for (const record of records) {
    const key = keyOf(record);
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    const layer = layers[count];
    if (layer) layer.push(record);
    else layers.push([record]);
  }
  return layers;
}
