import { describe, expect, it } from 'vitest';
import { composeScript, readScriptMark, type ScriptPieces } from '../../src/init/script-rules.js';

const PIECES: ScriptPieces = {
  head: '#!/bin/sh\n',
  node: '# node\n',
  python: '# python\n',
  rust: '# rust\n',
  go: '# go\n',
  tail: "say 'ready'\n",
};

describe('the text of init.sh', () => {
  it('LAY-03 has the functions of its stacks alone, and a line for each part', () => {
    const text = composeScript(
      PIECES,
      'mixed',
      [
        { stack: 'go', folder: '.', by: 'go.mod' },
        { stack: 'node', folder: "it's a $(folder)", by: 'package.json' },
      ],
      'found',
    );
    expect(text).toMatch(/^#!\/bin\/sh\n# node\n# go\n/);
    expect(text).toContain("\npart go .\npart node 'it'\\''s a $(folder)'\n");
    // Somebody chose it before there was anything to find: the functions are there to be used.
    expect(composeScript(PIECES, 'mixed', [], 'chosen')).toMatch(/# node\n# python\n# rust\n# go\n/);
  });

  it('LAY-02 tells what forge wrote from what somebody changed', () => {
    const text = composeScript(PIECES, 'node', [{ stack: 'node', folder: '.', by: '' }], 'chosen');
    expect(readScriptMark(text)).toEqual({ form: 1, stack: 'node', origin: 'chosen' });
    for (const changed of [
      text.replace('part node', 'part  node'),
      text.replaceAll('\n', '\r\n'),
      `${text}make db\n`,
      `${text}\n`,
      text.slice(0, -1),
      text.replace('chosen', 'found!'),
      text.replace('form 1', 'form 2'),
      text.replace('stack node', 'stack cobol'),
      '#!/bin/sh\nnpm ci\n',
      '',
    ])
      expect(readScriptMark(changed)).toBeNull();
  });
});
