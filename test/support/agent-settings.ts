import * as fc from 'fast-check';
import { type Random, seeded } from './secrets.js';

/** Files of settings as people write them: indented or not, with comments, trailing commas, CRLF, a BOM. */
interface Look {
  unit: string;
  end: string;
  bom: boolean;
  final: boolean;
  comments: boolean;
  trailing: boolean;
  seed: number;
}

const looks: fc.Arbitrary<Look> = fc.record({
  unit: fc.constantFrom('', '  ', '    ', '\t'),
  end: fc.constantFrom('\n', '\r\n'),
  bom: fc.boolean(),
  final: fc.boolean(),
  comments: fc.boolean(),
  trailing: fc.boolean(),
  seed: fc.integer(),
});

const leaf = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const group = fc.record({
  matcher: fc.string({ maxLength: 4 }),
  hooks: fc.array(fc.record({ command: fc.string() })),
});
const hooks = fc.dictionary(fc.constantFrom('Start', 'Stop', 'Other'), fc.array(group, { maxLength: 2 }));
const { tree } = fc.letrec((tie) => ({
  tree: fc.dictionary(fc.constantFrom('a', 'b', 'c"', 'permissions', 'é'), tie('value'), { maxKeys: 4 }),
  value: fc.oneof({ maxDepth: 3 }, leaf, fc.array(tie('value'), { maxLength: 3 }), tie('tree')),
}));
const servers = fc.dictionary(fc.constantFrom('one', 'two'), fc.record({ command: fc.string() }), {
  maxKeys: 2,
});

/** Some have hooks and servers of their own. */
const values = fc
  .tuple(tree as fc.Arbitrary<object>, fc.option(hooks), fc.option(servers))
  .map(([rest, own, mcpServers]) => ({
    ...rest,
    ...(own && { hooks: own }),
    ...(mcpServers && { mcpServers }),
  }));

export interface Settings {
  text: string;
  value: object;
}

export const settings: fc.Arbitrary<Settings> = fc
  .tuple(values, looks)
  .map(([value, look]) => ({ value, text: write(value, look) }));

function write(value: object, look: Look): string {
  const body = print(value, look, look.unit === '' ? null : '', seeded(look.seed));
  return `${look.bom ? '\ufeff' : ''}${body}${look.final ? look.end : ''}`;
}

function print(value: unknown, look: Look, indent: string | null, random: Random): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  const inner = indent === null ? null : indent + look.unit;
  const entries = Object.entries(value).map(
    ([key, part]) => `${isList ? '' : `${JSON.stringify(key)}: `}${print(part, look, inner, random)}`,
  );
  const last = look.trailing && entries.length > 0 && random() < 0.7 ? ',' : '';
  if (inner === null) return open + noted(entries, ' ', look, random) + last + close;
  if (entries.length === 0 && random() < 0.5) return open + close;
  const lines = entries.map((entry, at) => {
    const comma = at < entries.length - 1 ? ',' : last;
    return inner + entry + comma + (look.comments && random() < 0.3 ? ` // ${at} "x": {` : '');
  });
  if (look.comments && random() < 0.3) lines.push(`${inner}/* "y": 1, */`);
  return [open, ...lines, indent + close].join(look.end);
}

const noted = (entries: string[], space: string, look: Look, random: Random): string =>
  entries
    .map((entry) => (look.comments && random() < 0.2 ? `/*,*/${space}${entry}` : entry))
    .join(`,${space}`);
