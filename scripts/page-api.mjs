// docs/page-api.md from the routes of the page's API and the types of their answers, as TypeScript sees them.
import { fileURLToPath } from 'node:url';
import { API } from 'typescript/unstable/sync';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Prints types in the notation of TypeScript, without names, and without what JSON leaves out. */
function printer(checker) {
  const optional = (property) => (checker.getTypeOfSymbol(property).getTypes?.() ?? []).some(isUndefined);
  const isUndefined = (type) => checker.typeToString(type) === 'undefined';

  function print(type, indent, above) {
    if (above.includes(type.id)) return 'Node';
    const parts = type.isUnionType() ? type.getTypes().filter((one) => !isUndefined(one)) : [type];
    const texts = parts.map((one) => printOne(one, indent, above));
    const all = [...new Set(texts)].join(' | ').replace(/\b(?:true \| false|false \| true)\b/, 'boolean');
    return all.replace(/^null \| (.*)$/s, '$1 | null');
  }

  function printOne(type, indent, above) {
    // TypeScript takes it for an array, and fails on its item.
    if (checker.typeToString(type) === 'never') return 'never';
    if (checker.isArrayLikeType(type)) {
      const [item] = checker.getTypeArguments(type);
      const text = print(item, indent, above);
      return item.isUnionType() && text !== 'boolean' ? `(${text})[]` : `${text}[]`;
    }
    if (!type.isObjectType() && !type.isIntersectionType()) return checker.typeToString(type);
    const inner = `${indent}  `;
    const below = [...above, type.id];
    const fields = checker.getPropertiesOfType(type).map((property) => {
      const name = /^\w+$/.test(property.name) ? property.name : JSON.stringify(property.name);
      const mark = optional(property) ? '?' : '';
      return `${inner}${name}${mark}: ${print(checker.getTypeOfSymbol(property), inner, below)}`;
    });
    const [index] = checker.getIndexInfosOfType(type);
    if (fields.length === 0) return index ? `{ [name]: ${print(index.valueType, indent, below)} }` : 'object';
    // More fields may come with the file.
    return `{\n${[...fields, ...(index ? [`${inner}…`] : [])].join('\n')}\n${indent}}`;
  }
  return (type) => print(type, '', []);
}

/** The printed type of each answer, by its route. */
function printAnswers() {
  const api = new API({ cwd: ROOT });
  try {
    const [{ program, checker }] = api.updateSnapshot({ openProject: 'tsconfig.json' }).getProjects();
    const file = checker.getSymbolAtLocation(program.getSourceFile(`${ROOT}src/ui/api.ts`));
    const answers = checker.getExportsOfModule(file).find(({ name }) => name === 'Answers');
    const print = printer(checker);
    return Object.fromEntries(
      checker
        .getPropertiesOfType(checker.getDeclaredTypeOfSymbol(answers))
        .map((property) => [property.name, print(checker.getTypeOfSymbol(property))]),
    );
  } finally {
    api.close();
  }
}

function routeText(path, { summary, query }, answer) {
  const parameters = Object.entries(query).map(([key, what]) => `- \`${key}\`: ${what}`);
  return [
    `### /api/${path}`,
    `${summary}.`,
    ...(parameters.length > 0 ? [parameters.join('\n')] : []),
    `\`\`\`text\n${answer}\n\`\`\``,
  ].join('\n\n');
}

export function pageApi({ ROUTES }) {
  const answers = printAnswers();
  return `# The page's API

Written by \`npm run docs\` from the routes in \`src/ui/api.ts\`.

\`forge ui --json\` prints \`{"url": …, "token": …, "port": …, "root": …}\`. A program sends the token with each request:

\`\`\`sh
curl -H "Authorization: Bearer TOKEN" http://127.0.0.1:PORT/api/overview
\`\`\`

Every route is a GET (or HEAD), and changes nothing. Times are ISO 8601 in UTC, sizes are bytes. \`?\` marks a field that may be missing, \`…\`
fields that an entry may have besides these. An answer that fails has this body, and a status of 400 (wrong parameters, or an id of
a wrong form), 403 (host, site or token), 404 (unknown), 405 (other methods), 413 (a body), 503 (\`.forge/\` is gone, or too many streams)
or 500:

\`\`\`text
{
  error: {
    kind: string
    code: string
    message: string
    exit: number
    hint?: string
    …
  }
}
\`\`\`

## Events

\`/api/events\` is a stream of server-sent events. \`change\` comes when it is opened and after each change of memory:
\`{"version": 3, "live": true}\`. \`live\` is false where the system cannot watch the folders.

## Routes

${Object.entries(ROUTES)
  .map(([path, route]) => routeText(path, route, answers[path]))
  .join('\n\n')}

### /api/log.csv

The records of \`/api/log\` with the same \`tier\`, \`session\` and \`text\`, all of them, oldest first, for a spreadsheet.
`;
}
