import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columns, displayWidth, fitScreen, makeStyle, wrapLine } from '../../src/cli/style.js';

const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;

describe('VIS-01 the width of text', () => {
  it.each([
    ['', 0],
    ['登录', 4],
    ['ｆｕｌｌ', 8],
    ['é', 1],
    ['e\u0301', 1],
    ['👍', 2],
    ['👩‍💻', 2],
    ['●◐○✓✗→…', 7],
    [red('red'), 3],
    ['i\u0307stanbul', 8],
  ])('VIS-01 %s takes %i columns', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  it('VIS-01 aligns columns by display width, not by the number of characters', () => {
    const rows = columns([
      ['登录', 'x'],
      [red('ab'), 'x'],
      ['plain', 'x'],
    ]).split('\n');
    expect(new Set(rows.map((row) => displayWidth(row)))).toEqual(new Set([8]));
  });
});

describe('VIS-01 lines that are too long', () => {
  it('VIS-01 break at spaces, and continue indented', () => {
    const table = 'git         yellow  uncommitted: 2 changed files, 3 new files';
    expect(wrapLine(table, 46)).toBe(
      'git         yellow  uncommitted: 2 changed\n                    files, 3 new files',
    );
    expect(wrapLine('- one two three', 9)).toBe('- one two\n  three');
    expect(wrapLine('[10:00] one two three', 16)).toBe('[10:00] one two\n        three');
    expect(wrapLine('short', 20)).toBe('short');
    // A command that is copied from the screen must be one line.
    const command = '  → git restore --source=7d04d51ae622 -- .forge/config.toml   # the newest good one';
    const inText = 'To take this back: git rm -rfq .forge; rm -rf "$(git rev-parse --git-common-dir)/forge"';
    const inFolder = "  cd '../a folder' && forge start   # begin to work";
    const all = "find .git/worktrees -mindepth 2 -maxdepth 2 -path '*/forge' -exec rm -rf {} +";
    for (const line of [command, inText, inFolder, all]) expect(fitScreen(line, 30)).toBe(line);
    expect(wrapLine('/a/path/that/is/longer/than/a/line', 20)).toBe('/a/path/that/is/lo\n  nger/than/a/line');
  });

  it('VIS-01 are never wider than the terminal, and lose no character but spaces', () => {
    const word = fc.oneof(
      fc.string({
        minLength: 1,
        maxLength: 12,
        unit: fc.constantFrom('a', 'Z', '-', '登', '👩‍💻', 'é', 'e\u0301'),
      }),
      fc.constantFrom('  ', '->', 'forge', red('two words'), red('登登登登登登登')),
    );
    // Rows come composed (NFC), and each has its own colours.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
    const bare = (text: string): string => text.normalize().replace(/\s|\u001b\[\d+m/g, '');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 20 }), fc.integer({ min: 8, max: 100 }), (words, width) => {
        const line = words.join(' ');
        const shown = wrapLine(line, width);
        for (const row of shown.split('\n')) expect(displayWidth(row)).toBeLessThanOrEqual(width);
        expect(bare(shown)).toBe(bare(line));
      }),
    );
  });
});

describe('VIS-01 text that a terminal can show', () => {
  it('VIS-01 B-68 shows an age at a terminal; elsewhere, and for distant or future times, the time', async () => {
    const now = () => new Date('2026-03-10T12:00:00.000Z');
    const [person, pipe] = [await makeStyle(false, { width: 80, now }), await makeStyle(false)];
    for (const [at, told] of [
      ['2026-03-10T11:59:30.000Z', 'just now'],
      ['2026-03-10T11:57:00.000Z', '3 min ago'],
      ['2026-03-10T09:00:00.000Z', '3 h ago'],
      ['2026-03-09T11:00:00.000Z', '25 h ago'],
      ['2026-03-01T12:00:00.000Z', '9 days ago'],
      ['2025-03-01T12:34:56.000Z', '2025-03-01 12:34'],
      ['2027-03-01T12:34:56.000Z', '2027-03-01 12:34'],
      ['soon', 'soon'],
    ] as const) {
      expect([at, person.time(at)]).toEqual([at, told]);
      expect(pipe.time(at)).toBe(at.slice(0, 16).replace('T', ' '));
    }
  });
});
