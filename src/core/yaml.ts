import { isAlias, isScalar, parseDocument, stringify, visit } from 'yaml';
import { oneLine } from './text.js';

/** What is wrong in a YAML text, in a 1-based line where that is known. */
export class YamlProblem extends Error {
  constructor(
    message: string,
    readonly line?: number,
  ) {
    super(message);
  }
}

export const formatYaml = (value: object): string => stringify(value, { lineWidth: 0 });

/** Plain values only. With aliases a small text could become a large value. Throws YamlProblem. */
export function readYaml(text: string): unknown {
  const document = parseDocument(text, { prettyErrors: true, uniqueKeys: true });
  const [problem] = document.errors;
  if (problem)
    throw new YamlProblem(oneLine(problem.message.split('\n')[0] ?? '', 200), problem.linePos?.[0].line);
  visit(document, {
    Node: (_, node) => {
      if (isAlias(node) || ('anchor' in node && node.anchor))
        throw new YamlProblem('anchors and aliases are not allowed');
      if ('tag' in node && node.tag && !(isScalar(node) && node.source === undefined))
        throw new YamlProblem(`the tag ${oneLine(String(node.tag), 40)} is not allowed`);
    },
  });
  return document.toJS();
}
