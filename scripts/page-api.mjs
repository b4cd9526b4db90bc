// docs/page-api.md from the routes and the zod schemas of their answers.

const name = (key) => (/^\w+$/.test(key) ? key : JSON.stringify(key));

/** A JSON Schema as a type, in the notation of TypeScript. */
function typeOf(schema, indent) {
  if (schema.$ref) return 'Node';
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return [...new Set(schema.anyOf.map((one) => typeOf(one, indent)))].join(' | ');
  if (Array.isArray(schema.type))
    return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(' | ');
  if (schema.type === 'array') {
    const item = typeOf(schema.items ?? {}, indent);
    return item.includes(' | ') ? `(${item})[]` : `${item}[]`;
  }
  if (schema.type === 'object') return objectOf(schema, indent);
  return (
    { integer: 'integer', number: 'number', string: 'string', boolean: 'boolean', null: 'null' }[
      schema.type
    ] ?? 'unknown'
  );
}

function objectOf({ properties = {}, required = [], additionalProperties }, indent) {
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(
    ([key, value]) => `${inner}${name(key)}${required.includes(key) ? '' : '?'}: ${typeOf(value, inner)}`,
  );
  if (fields.length === 0)
    return typeof additionalProperties === 'object'
      ? `{ [name]: ${typeOf(additionalProperties, indent)} }`
      : 'object';
  // More fields may come with a later version, or with the file.
  const more = additionalProperties === false ? [] : [`${inner}…`];
  return `{\n${[...fields, ...more].join('\n')}\n${indent}}`;
}

function routeText({ path, summary, query, answer }, schemas) {
  const parameters = Object.entries(query ?? {}).map(([key, what]) => `- \`${key}\`: ${what}`);
  return [
    `### ${path}`,
    `${summary}.`,
    ...(parameters.length > 0 ? [parameters.join('\n')] : []),
    `\`\`\`text\n${typeOf(schemas[answer], '')}\n\`\`\``,
  ].join('\n\n');
}

export function pageApi({ ROUTES, answerSchemas }) {
  const schemas = answerSchemas();
  return `# The page's API

Written by \`npm run docs\` from the schemas in \`src/ui/schemas.ts\`.

\`forge ui --json\` prints \`{"url": …, "token": …, "port": …, "root": …}\`. A program sends the token with each request:

\`\`\`sh
curl -H "Authorization: Bearer TOKEN" http://127.0.0.1:PORT/api/overview
\`\`\`

Every route is a GET, and changes nothing. Times are ISO 8601 in UTC, sizes are bytes. \`?\` marks a field that may be missing, \`…\`
fields that an entry may have besides these. An answer that fails has this body, and a status of 400 (wrong parameters), 403 (host, site
or token), 404 (unknown), 503 (\`.forge/\` is gone) or 500:

\`\`\`text
${typeOf(schemas.error, '')}
\`\`\`

## Events

\`/api/events\` is a stream of server-sent events. \`change\` comes when it is opened and after each change of memory:
\`{"version": 3, "live": true}\`. \`live\` is false where the system cannot watch the folders.

## Routes

${ROUTES.map((route) => routeText(route, schemas)).join('\n\n')}

### /api/log.csv

The same records as \`/api/log\` with the same parameters, all of them, for a spreadsheet.
`;
}
