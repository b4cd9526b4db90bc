import { describe, expect, it } from 'vitest';
import { aboveScissors, cleanMessage, protectHeadings } from '../../src/commit/message.js';
import { makeRepository, run } from '../support/project.js';

const SCISSORS = `${'-'.repeat(24)} >8 ${'-'.repeat(24)}`;
const clean = (text: string, comment?: string): string =>
  `${cleanMessage(text, comment)
    .map(({ text: line }) => line)
    .join('\n')}\n`;

/** Texts that an editor may leave. */
const TEXTS: Record<string, string> = {
  plain: '[A-1] one\n\n## What\n- x\n',
  remarks: 'one\n# Please enter\n#\n# On branch main\n',
  blanks: '\n\n one  \n\n\n\ntwo\t\n\n',
  'carriage returns': 'one\r\n\r\ntwo\r\n# three\r\n',
  'no end': 'one\n\n## What',
  'comment first': '# title\none\n',
  'comment between': 'one\n\n# two\n\nthree\n',
  'indented heading': 'one\n\n ## What\n- x\n',
  'only comments': '# a\n#b\n',
  'empty lines': '\n \n\t\n',
};

describe('a message as git stores it', () => {
  it.each(Object.entries(TEXTS))('GIT-01 is exactly what git stores: %s', (_name, text) => {
    const project = makeRepository();
    for (const [cleanup, comment] of [
      ['strip', '#'],
      ['whitespace', '#'],
      ['strip', ';'],
    ] as const) {
      const safe = protectHeadings(text, comment);
      project.write('message', safe);
      const args = [
        '-c',
        `core.commentChar=${comment}`,
        'commit',
        '-q',
        '--allow-empty',
        '--allow-empty-message',
      ];
      const done = run(project.dir, 'git', [...args, `--cleanup=${cleanup}`, '-F', 'message']);
      expect(done.exitCode).toBe(0);
      const stored = `${project.git('log', '-1', '--format=%B')}\n`;
      const checked = clean(safe, cleanup === 'strip' ? comment : undefined).replace(/\n{3,}/g, '\n\n');
      expect([cleanup, checked]).toEqual([cleanup, stored]);
    }
  });

  it.each([
    ['git commit -v', `one\n\n# ${SCISSORS}\ndiff --git a/x b/x\n+two\n`, '#'],
    ['another comment character', `one\n# ${SCISSORS}\n; ${SCISSORS}\ntwo\n`, ';'],
    ['two scissors lines', `one\n# ${SCISSORS}\ntwo\n# ${SCISSORS}\nthree\n`, '#'],
    ['the first line', `# ${SCISSORS}\none\n# ${SCISSORS}\n`, '#'],
    ['nothing in front of it', `one\n${SCISSORS}\ntwo\n`, '#'],
    ['a blank in front of it', `one\n # ${SCISSORS}\ntwo\n`, '#'],
    ['a blank behind it', `one\n# ${SCISSORS} \ntwo\n`, '#'],
    ['carriage returns', `one\r\n# ${SCISSORS}\r\ntwo\r\n`, '#'],
    ['no line feed at its end', `one\n# ${SCISSORS}`, '#'],
    ['not UTF-8', `\xfcber\n# ${SCISSORS}\ntwo\n`, '#'],
  ])('GIT-01 LTM-13 cuts at the scissors line where git does: %s', (_name, text, comment) => {
    const project = makeRepository();
    project.write('message', Buffer.from(text, 'latin1'));
    const args = [
      '-c',
      `core.commentChar=${comment}`,
      '-c',
      'i18n.commitEncoding=ISO-8859-1',
      'commit',
      '-qv',
    ];
    project.git(...args, '--allow-empty', '--allow-empty-message', '--cleanup=verbatim', '-F', 'message');
    const commit = run(project.dir, 'sh', ['-c', 'git cat-file commit HEAD | base64']).stdout;
    const stored = Buffer.from(commit, 'base64').toString('latin1');
    const cut = aboveScissors(Buffer.from(text, 'latin1'), comment).toString('latin1');
    expect(cut).toBe(stored.slice(stored.indexOf('\n\n') + 2));
  });
});
