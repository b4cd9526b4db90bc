import { describe, expect, it } from 'vitest';
import { parseInvariants } from '../../src/knowledge/rules.js';

const invariants = parseInvariants;

describe('the invariants of architecture.md', () => {
  it.each([
    '# Invariants',
    '###### invariant',
    '## Invariants:',
    '## **Invariants** ##',
    '## 3.1 System invariants (never break)',
    '## Invariants of the store',
    '## ⚠️ Key Architectural Invariants',
  ])('KNO-03 stand below a heading of that name: %s', (heading) => {
    expect(invariants(`# Before\n\n- not this\n\n${heading}\n\n- One\n- Two\n`)).toEqual(['One', 'Two']);
  });

  it.each([
    '## Why invariants matter to us all',
    '## Invariance',
    '## Components (and invariants)',
    'Invariants:',
    '    # Invariants',
    '#Invariants',
    '```\n## Invariants\n```',
    '<!--\n## Invariants\n-->',
  ])('KNO-03 do not stand below anything else: %s', (heading) => {
    expect(invariants(`${heading}\n\n- One\n`)).toEqual([]);
  });

  it('KNO-03 end with their section; subsections and several sections are read', () => {
    const text =
      '## Invariants\n- a\n### Of the store\n- b\n## Other\n- no\n### Deep\n#### Invariants\n- c\n### Next\n- no\n';
    expect(invariants(text)).toEqual(['a', 'b', 'c']);
  });

  it('KNO-03 are list items of each kind, with their continuation lines and nested items', () => {
    const text = [
      '## Invariants',
      'Read these first.',
      '* star',
      '+ plus',
      '10) numbered,',
      '   goes on',
      'lazily',
      '- [ ] to do',
      '-',
      '- parent',
      '  - child',
      '    - grandchild',
      '',
      '\t- tab',
      '',
      '  still the parent’s',
      '- **last**',
      '',
      'A paragraph of its own.',
      '## Another',
      '- not this',
    ].join('\n');
    expect(invariants(text)).toEqual([
      'star',
      'plus',
      'numbered, goes on lazily',
      'to do',
      'parent - child - grandchild - tab still the parent’s',
      '**last**',
    ]);
  });

  it('KNO-03 a list that is indented as a whole has an item for each rule', () => {
    expect(invariants('## Invariants\n  - a\n    goes on\n  - b\n     - below\n   - c\n')).toEqual([
      ...['a goes on', 'b - below', 'c'],
    ]);
  });

  it('KNO-03 do not include code and comments', () => {
    expect(invariants('## Invariants\n\n    - code\n\t- code\n')).toEqual([]);
    const text = [
      '## Invariants',
      '- before <!-- a remark --> after <!-- left open',
      '<!--',
      '- not yet decided',
      '-->',
      '````sh',
      '- code',
      '```',
      '- code',
      '````',
      '- with code',
      '  ~~~',
      '  - code',
      '  ~~~',
      '  behind it',
      '- <!-- all of it -->',
      '- ```',
      '  - code',
    ].join('\n');
    expect(invariants(text)).toEqual(['before after <!-- left open', 'with code behind it']);
  });

  it('KNO-03 are read with any line ending', () => {
    for (const end of ['\n', '\r\n', '\r'])
      expect(invariants(['# A', '', '## Invariants', '', '- x', ''].join(end))).toEqual(['x']);
  });

  it('KNO-03 show hidden characters, and are truncated if they are too long', () => {
    expect(invariants('# Invariants\n- a\u202eb\u200bc\u001b[2J\n')).toEqual([
      'a<U+202E>b<U+200B>c<U+001B>[2J',
    ]);
    const [long = ''] = invariants(`# Invariants\n- ${'x'.repeat(5_000_000)}`);
    expect([long.length, long.at(-1)]).toEqual([1000, '…']);
    const many = `# Invariants\n- top\n${'  - below\n'.repeat(1000)}`;
    expect(invariants(many)[0]).toHaveLength(1000);
  });

  it.each(['', '\n', '#', '- x', '```', '<!--', '# Invariants', '## \n===\n', '\u0000\ufffd'])(
    'KNO-03 are none in %j',
    (text) => {
      expect(invariants(text)).toEqual([]);
    },
  );

  it('KNO-03 are found in long texts of any kind', () => {
    const pieces = [
      '<!-- ',
      '```',
      '# Invariants (',
      '- ',
      ' '.repeat(500),
      '\t',
      '`',
      '#'.repeat(90),
      '--',
      '\n- a',
      '1) ',
    ];
    for (const piece of pieces) {
      for (const end of ['', '\n']) {
        const text = `# Invariants\n${`${piece}${end}`.repeat(Math.ceil(300_000 / (piece.length + 1)))}\n`;
        expect(Array.isArray(parseInvariants(text))).toBe(true);
      }
    }
  });
});
