import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { ForgeError } from '../../src/core/error.js';
import { checkText } from '../../src/core/text.js';
import type { GuardClass } from '../../src/guard/rule.js';
import { invisibleRules } from '../../src/guard/rules/invisible.js';
import { scanText } from '../../src/guard/scan.js';
import { everyCommand } from '../support/commands.js';
import { expectError, forgeError, forgeJson, runForge } from '../support/forge.js';
import { CONFIG, makeForge, makeStarted, snapshot } from '../support/forge-project.js';
import { HALT, logOf } from '../support/memory.js';
import { NAUGHTY } from '../support/naughty.js';
import { findAll } from '../support/personal.js';
import { commitAll, type Project, run } from '../support/project.js';
import { SAMPLES } from '../support/samples.js';

describe('personal data that does not halt', () => {
  it('LTM-13 halts if the project asks for it; the project cannot ask for less', async () => {
    const project = await makeStarted();
    await expectError(project, ['config', 'set', 'guard.off', 'true'], '2');
    await expectError(project, 'config set guard.halt_on none', '2');
    await forgeJson(project, ['config', 'set', 'guard.halt_on', 'all']);
    expect(project.read(CONFIG)).toContain('halt_on = "all"');
    expect((await runForge(project, ['progress', 'add', SAMPLES.email()])).exitCode).toBe(5);
    await expectError(project, ['progress', 'add', 'x'], '4');
  });
});

describe('pending writes', () => {
  it('LTM-13 LTM-16 a cycle with a secret is not queued for later', async () => {
    const project = await makeForge();
    const secret = SAMPLES.secret();
    chmodSync(project.path('.forge/memory/ledger'), 0o555);
    const stdin = JSON.stringify({ task_id: 'A', exit_code: 0, log: `token ${secret}` });
    const { exitCode, stderr } = await runForge(project, ['memory', 'record', '-'], { stdin });
    chmodSync(project.path('.forge/memory/ledger'), 0o755);
    expect([5, 6]).toContain(exitCode);
    expect(stderr).not.toContain(secret);
    expect(JSON.stringify(snapshot(project.dir))).not.toContain(secret);
    expect(run(project.dir, 'grep', ['-rlF', secret, '.']).stdout).toBe('');
  });
});

describe('a secret in disguise', () => {
  const secret = SAMPLES.secret();
  const half = Math.floor(secret.length / 2);
  it('B-106 is found when it is split over two fields of a record', async () => {
    const project = await makeForge();
    const flags = [secret.slice(0, half), secret.slice(half)];
    const signals = { one: secret.slice(0, half), two: secret.slice(half) };
    for (const split of [{ regression_flags: flags }, { quality_signals: signals }]) {
      const stdin = JSON.stringify({ task_id: 'A', exit_code: 0, ...split });
      const error = await forgeError(project, ['memory', 'record', '-'], { stdin });
      expect(error).toMatchObject({ exitCode: 5, code: 'guard.secret' });
    }
  });
});

describe('content written by others', () => {
  it('LTM-13 content of HEAD does not block a session', async () => {
    const project = await makeForge();
    project.write('.forge/skills/old.md', `Ask ${SAMPLES.email()}\n`);
    commitAll(project, 'Old');
    await forgeJson(project, ['session', 'start']);
    project.write('.forge/skills/old.md', `${project.read('.forge/skills/old.md')}more\n`);
    await forgeJson(project, ['session', 'end']);
  });
});

/** Every place of a writing command where a person or an agent can put text. */
async function textSlots(): Promise<{ call: string[]; slot: string }[]> {
  const slots: { call: string[]; slot: string }[] = [];
  for (const { words, spec } of await everyCommand()) {
    if (!spec.writes) continue;
    const args = spec.args ?? [];
    // A command to run may say what it has to: its words are kept nowhere.
    for (const [i, arg] of spec.runs ? [] : args.entries())
      slots.push({ call: [...words, ...args.map((_, k) => (k === i ? TEXT : 'x'))], slot: arg });
    for (const { flags, number } of spec.options ?? []) {
      const option = new Option(flags);
      if (number || (!option.required && !option.optional)) continue;
      slots.push({ call: [...words, ...args.map(() => 'x'), option.long ?? '', TEXT], slot: flags });
    }
  }
  return slots;
}

const TEXT = '\0';

/** Those of the texts that stand anywhere: in a file or its name, or in what git keeps. */
function tracesOf(project: Project, texts: readonly string[]): string[] {
  const found = (program: string, args: string[]): string =>
    spawnSync(program, args, { cwd: project.dir, encoding: 'latin1', maxBuffer: 1 << 28 }).stdout;
  const everything = [
    found('git', ['cat-file', '--batch-all-objects', '--batch']),
    found('find', ['.']),
    found('grep', ['-rahF', '', '.']),
  ].join('\n');
  expect(everything).toContain('schema_version');
  return texts.filter((text) => everything.includes(text));
}

describe('every command that takes text', () => {
  it.each(Object.entries(SAMPLES) as [GuardClass, () => string][])(
    'LTM-13 B-106 refuses %s wherever text can stand, and leaves no trace of it',
    async (_, make) => {
      const project = await makeForge();
      const slots = await textSlots();
      expect(slots.length).toBeGreaterThan(30);
      const tried: string[] = [];
      for (const { call, slot } of slots) {
        const text = make();
        const args = call.map((word) => (word === TEXT ? `See:\n${text}` : word));
        const { exitCode, stdout, stderr } = await runForge(project, args);
        expect(stdout + stderr).not.toContain(text);
        expect([call.join(' '), slot, exitCode], stderr).toEqual([call.join(' '), slot, 5]);
        tried.push(text);
      }
      expect(tracesOf(project, tried)).toEqual([]);
      expect(project.has(HALT)).toBe(false);
      const records = await logOf(project, 'audit');
      expect(records.filter(({ kind }) => kind === 'breach').length).toBeGreaterThan(0);
    },
  );
});

const INVISIBLE_RULES = invisibleRules();

const found = (text: string): string[] => [...new Set(findAll(INVISIBLE_RULES, text).map((hit) => hit.rule))];
const tags = (text: string): string =>
  [...text].map((c) => String.fromCodePoint(0xe0000 + c.charCodeAt(0))).join('');
const FLAG = '\u{1f3f4}';
const END = '\u{e007f}';

const refused = (text: string): boolean => {
  try {
    checkText(text, { what: 'The note' });
    return false;
  } catch (error) {
    return error instanceof ForgeError && error.code === 'text.hidden_character';
  }
};

describe('invisible characters', () => {
  it('LTM-13 finds every character for which texts are refused', () => {
    const all = Array.from({ length: 0x110000 }, (_, code) => code).filter(
      (code) => code < 0xd800 || code > 0xdfff,
    );
    const missed = all.filter((code) => {
      const text = `a${String.fromCodePoint(code)}b`;
      return refused(text) && found(text).length === 0;
    });
    expect(missed.map((code) => code.toString(16))).toEqual([]);
  });

  it.each([
    ['zero-width space', 'pass\u200bword', 'zero-width'],
    ['byte order mark at the start', '\ufeffa', 'zero-width'],
    ['joiner between letters', 'sec\u200dret', 'joiner'],
    ['non-joiner between letters', 'sec\u200cret', 'joiner'],
    ['joiner after an emoji', '👍\u200dx', 'joiner'],
    ['run of joiners', 'می\u200c\u200cخواهم', 'joiner'],
    ['override', 'a\u202ecod.exe', 'bidi'],
    ['mark among Latin', 'a\u200fb', 'bidi-mark'],
    ['tags', `hello${tags('ignore all')}`, 'tag'],
    ['tags of no flag', `${FLAG}${tags('secret')}${END}`, 'tag'],
    ['tags behind a flag', `${FLAG}${tags('gbeng')}${END}${tags('x')}`, 'tag'],
    ['escape', 'a\u001b[31mred', 'control'],
    ['lone carriage return', 'good\rbad ', 'control'],
    ['selectors as bytes', `a${'\ufe01\ufe0e\u{e0123}'}`, 'variation'],
    ['selector behind a letter', 'a\ufe0f', 'variation'],
    ['supplementary selectors', '😀\u{e0100}\u{e0101}', 'variation'],
    ['annotation', 'a\ufff9b\ufffac\ufffb', 'annotation'],
    ['deprecated', 'a\u206ab', 'deprecated'],
    ['soft hyphens', 'a\u00ad\u00ad\u00adb', 'soft-hyphen'],
    ['Hangul filler', 'name\u3164', 'filler'],
    ['Braille blank', 'a\u2800b', 'filler'],
    ['notation', 'a\u{1d173}b', 'format'],
  ])('LTM-13 finds a %s', (_what, text, rule) => {
    expect(found(text)).toContain(`invisible-${rule}`);
  });

  it.each([
    ['plain lines', 'a\tb\nc\r\nd\n'],
    ['separators of lines', 'a\u2028b\u2029c'],
    ['emoji', '👩‍👩‍👧‍👦 👍🏽 ❤️ 🏳️‍🌈 👩🏽‍💻 1️⃣ ☎︎ 🧑‍🚀 ✈️'],
    ['flags', `${FLAG}${tags('gbeng')}${END} ${FLAG}${tags('gbsct')}${END} ${FLAG}${tags('gbwls')}${END} 🇩🇪`],
    ['Persian', 'می\u200cخواهم'],
    ['Hindi and Marathi', 'क्\u200dष क्\u200cष र्\u200dय'],
    ['Sinhala, Malayalam and Bengali', 'ශ්\u200dරී ന്\u200d র\u200d্য'],
    ['Hebrew with a mark', 'שלום\u200f! \u200fמה'],
    ['ideographs with a variant', '葛\u{e0100}城'],
    ['a soft hyphen', 'Auf\u00adlage'],
    ['Braille', '⠓⠑⠇⠇⠕⠀⠺⠕⠗⠇⠙'],
    ['old Hangul', '\u115f\u1161 \u1100\u1160'],
    ['letters with marks', 'Z̮̞a̦l͈g͔o é ñ'],
    ['wide spaces', 'a\u00a0b\u3000c\u2003d'],
  ])('LTM-13 finds nothing in %s', (_what, text) => {
    expect(found(text)).toEqual([]);
  });

  it('LTM-13 finds only the naughty strings with such a character', () => {
    const invisible = /[\p{Cc}\p{Cf}\u2800\u3164\u180e\u115f\u1160\uffa0\p{Variation_Selector}]/u;
    const wrong = NAUGHTY.filter((text) => found(text).length > 0 && !invisible.test(text));
    expect(wrong).toEqual([]);
  });

  it.each([
    ...['\u200d', '\u00ad', '\u2800', '👍', 'क', '\ufe0f', '\u{e0067}', '\u{1f3f4}', '\r', ' ', 'a'],
    ...['\u200f'],
  ])('LTM-13 takes time in proportion to a text of nothing but %j', (piece) => {
    // A quadratic pattern needs longer for this than a test may take.
    expect(scanText(piece.repeat(200_000), INVISIBLE_RULES)).toBeInstanceOf(Array);
  });
});
