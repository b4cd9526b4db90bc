import { isAlias, isScalar, parseDocument, stringify, visit } from 'yaml';
import { SyntaxProblem } from './error.js';
import { oneLine } from './text.js';

export const formatYaml = (value: object): string => stringify(value, { lineWidth: 0 });

/** YAML between two lines of ---, then the text. */
export const FRONTMATTER = /^---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/;

/** Plain values only. With aliases a small text could become a large value. Throws SyntaxProblem, with the line where it is known. */
export function readYaml(text: string): unknown {
  const document = parseDocument(text, { prettyErrors: true, uniqueKeys: true });
  const [first] = document.errors;
  if (first)
    throw new SyntaxProblem(oneLine(first.message.split(/:?\n/)[0] ?? '', 200), first.linePos?.[0].line);
  visit(document, {
    Node: (_, node) => {
      if (isAlias(node) || ('anchor' in node && node.anchor))
        throw new SyntaxProblem('anchors and aliases are not allowed');
      if ('tag' in node && node.tag && !(isScalar(node) && node.source === undefined))
        throw new SyntaxProblem(`the tag ${oneLine(String(node.tag), 40)} is not allowed`);
    },
  });
  return document.toJS();
}
