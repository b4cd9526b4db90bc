import { describe, expect, it } from 'vitest';
import { install, refusal, uninstall } from '../support/plans.js';
import { block, file } from '../support/wirings.js';

const BLOCK = [block()];

describe('forge in a Markdown file', () => {
  it.each([null, '', '# Mine\n', '# Mine', '# Mine\r\n\r\nText\r\n', '# Mine\n\n', '\ufeff# Mine\n'])(
    'AGT-01 a marked block at the end of %j, and out again to the very bytes',
    (text) => {
      const wired = install(text, BLOCK);
      expect(wired.text).toMatch(/<!-- forge:begin -->\r?\nUse forge\.\r?\n<!-- forge:end -->/);
      expect(uninstall(wired.text, BLOCK, wired.record)).toEqual({ text, record: null });
    },
  );

  it('AGT-01 is replaced where it is, and taken out of a text that was edited around it', () => {
    const wired = install('# Mine\n', [block('Old.')]).text as string;
    const edited = `${wired}\nMore.\n`;
    expect(install(edited, BLOCK).text).toBe(edited.replace('Old.', 'Use forge.'));
    expect(uninstall(edited, BLOCK).text).toBe('# Mine\n\nMore.\n');
  });

  it.each<[string, string, [string, number]]>([
    ['a beginning alone', 'a\n<!-- forge:begin -->\n', ['<!-- forge:begin --> stands alone', 2]],
    ['an end alone', '<!-- forge:end -->', ['<!-- forge:end --> stands alone', 1]],
    [
      'two blocks',
      '<!-- forge:begin -->\n<!-- forge:end -->\n<!-- forge:begin -->\n<!-- forge:end -->\n',
      ['<!-- forge:begin --> stands twice', 3],
    ],
    [
      'an end before its beginning',
      '<!-- forge:end -->\n<!-- forge:begin -->\n',
      ['<!-- forge:end --> stands before its beginning', 1],
    ],
  ])('AGT-01 refuses %s', (_, text, expected) => {
    expect(refusal(text, BLOCK)).toEqual(expected);
  });
});

describe("a whole file of forge's", () => {
  const parts = [file()];

  it("AGT-01 is written, replaced and removed; another's is refused and stays", () => {
    const wired = install(null, parts);
    expect(uninstall(wired.text, parts, wired.record).text).toBeNull();
    const newer = [file('// forge agent install\nnewer();\n')];
    expect(install(wired.text, newer, wired.record).text).toBe('// forge agent install\nnewer();\n');
    expect(install(`${wired.text}mine();\n`, newer).text).toBe('// forge agent install\nnewer();\n');
    expect(uninstall(`${wired.text}mine();\n`, parts).text).toBeNull();
    expect(refusal('mine();\n', parts)).toEqual(["it is there already and is not forge's", null]);
    expect(uninstall('mine();\n', parts)).toEqual({ text: 'mine();\n', record: null });
  });
});
