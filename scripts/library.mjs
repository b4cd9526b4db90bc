// The list of methods in docs/library.md, from the types of `openForge()`, as TypeScript sees them.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { API, SignatureKind } from 'typescript/unstable/sync';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const HEADING = '\n## Methods\n';
/** For agents' hooks and for forge's own commands. */
const INTERNAL = ['agent', 'guard', 'places'];

const isUndefined = (checker, type) => checker.typeToString(type) === 'undefined';

/** `{ id, goal? }`: the fields of an input. */
function fieldsOf(checker, type) {
  const parts = type.isUnionType() ? type.getTypes().filter((one) => !isUndefined(checker, one)) : [type];
  const texts = parts.map((part) => {
    if (!part.isObjectType() && !part.isIntersectionType()) return checker.typeToString(part);
    if (checker.isArrayLikeType(part)) return `${fieldsOf(checker, checker.getTypeArguments(part)[0])}[]`;
    const fields = checker.getPropertiesOfType(part).map((field) => {
      const values = checker.getTypeOfSymbol(field);
      const all = values.isUnionType() ? values.getTypes() : [values];
      const kind = field.name === 'kind' && all.length === 1 ? `: ${checker.typeToString(values)}` : '';
      return `${field.name}${kind}${all.some((one) => isUndefined(checker, one)) ? '?' : ''}`;
    });
    return fields.length === 0 ? checker.typeToString(part) : `{ ${fields.join(', ')} }`;
  });
  return [...new Set(texts)].join(' or ');
}

/** Other second arguments are for forge's own commands. */
function watchText(checker, type) {
  const parts = type.isUnionType() ? type.getTypes() : [type];
  const watch = parts.find((one) => !isUndefined(checker, one));
  if (checker.getSignaturesOfType(watch, SignatureKind.Call).length > 0) return ', onEvent';
  const fields = checker.getPropertiesOfType(watch);
  if (!fields.some(({ name }) => name === 'signal' || /^on[A-Z]/.test(name))) return '';
  const text = fieldsOf(checker, watch);
  return fields.every(({ name }) => text.includes(`${name}?`)) ? ', watch?' : ', watch';
}

function methodText(checker, path, signature) {
  const [parameter] = signature.getParameters();
  if (!parameter) return `${path}()`;
  const type = checker.getTypeOfSymbol(parameter);
  // The operations take their arguments as a tuple.
  const given = checker.isArrayLikeType(type) ? checker.getTypeArguments(type) : [type];
  if (given.length === 0) return `${path}()`;
  return `${path}(${fieldsOf(checker, given[0])}${given[1] ? watchText(checker, given[1]) : ''})`;
}

function listMethods(checker, type, path) {
  return checker.getPropertiesOfType(type).flatMap((property) => {
    if (path === 'forge' && INTERNAL.includes(property.name)) return [];
    const value = checker.getTypeOfSymbol(property);
    const name = `${path}.${property.name}`;
    const [signature] = checker.getSignaturesOfType(value, SignatureKind.Call);
    if (signature) return [methodText(checker, name, signature)];
    const isGroup = value.isObjectType() && !checker.isArrayLikeType(value);
    return isGroup ? listMethods(checker, value, name) : [];
  });
}

/** docs/library.md with its list of methods as it is now. */
export function libraryPage() {
  const api = new API({ cwd: ROOT });
  try {
    const [{ program, checker }] = api.updateSnapshot({ openProject: 'tsconfig.json' }).getProjects();
    const file = checker.getSymbolAtLocation(program.getSourceFile(`${ROOT}src/library/forge.ts`));
    const forge = checker.getExportsOfModule(file).find(({ name }) => name === 'Forge');
    const methods = listMethods(checker, checker.getDeclaredTypeOfSymbol(forge), 'forge');
    const [top] = readFileSync(`${ROOT}docs/library.md`, 'utf8').split(HEADING);
    return `${top}${HEADING}
Written by \`npm run docs\`. \`?\` marks what may be left out; \`watch\` is an object of callbacks for long work, most with a
\`signal\` that ends it. \`cycle\` and \`loop\` also take \`finish\`, which lets the running cycle end and be recorded.

\`\`\`text
${methods.join('\n')}
\`\`\`
`;
  } finally {
    api.close();
  }
}
