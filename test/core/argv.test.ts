import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatArgv, splitCommand, testArgv } from '../../src/core/argv.js';
import { failure } from '../support/failure.js';

describe('splitCommand', () => {
  it('B-91 sets a leading variable for the command, as a shell does', () => {
    expect(splitCommand('A=1 B="2 3" npm test')).toEqual(['env', 'A=1', 'B=2 3', 'npm', 'test']);
  });

  it.each([
    ['  npm \t test  ', ['npm', 'test']],
    [`a '' ""`, ['a', '', '']],
    [`a b"c d"'e f'g`, ['a', 'bc de fg']],
    ['a b\\ c', ['a', 'b c']],
    [`a 'it'\\''s'`, ['a', "it's"]],
    [`a "it's"`, ['a', "it's"]],
    [`a "b\\\\c\\"d\\$e\\\`f"`, ['a', 'b\\c"d$e`f']],
    ['a "b\\c\\n"', ['a', 'b\\c\\n']],
    ["a '$HOME `x` | & ; <>()'", ['a', '$HOME `x` | & ; <>()']],
    ['a "| & ; <>() * # ~"', ['a', '| & ; <>() * # ~']],
    ['a b\\\nc \\\n"d\\\ne"', ['a', 'bc', 'de']],
    ['cargo test nats::subjects::tests::*', ['cargo', 'test', 'nats::subjects::tests::*']],
    ['pytest -k "not slow" tests/test_x.py::T', ['pytest', '-k', 'not slow', 'tests/test_x.py::T']],
    ["a b~/c '~/d' ~e", ['a', 'b~/c', '~/d', '~e']],
    ['env A=1 x B=2', ['env', 'A=1', 'x', 'B=2']],
  ])('FEA-02 splits %j as POSIX quoting has it', (command, words) => {
    expect(splitCommand(command)).toEqual(words);
  });

  it.each([
    ['a || b', '|'],
    ['a && b', '&'],
    ['cat a | b', '|'],
    ['a && b | c', '&'],
    ['a; b', ';'],
    ['a $HOME', '$'],
    ['a "$HOME"', '$'],
    ['a `b`', '`'],
    ['ls ~/a', '~'],
    ['a\nb', '\\n'],
  ])('B-91 refuses %j and hints at sh -c', (command, char) => {
    const error = failure(() => splitCommand(command));
    expect(error).toMatchObject({ exit: 2, code: 'command.shell', hint: `sh -c '${command}'` });
    expect(error.message).toBe(`"${char}" outside quotes needs a shell: ${command}`);
  });

  it.each([
    ['npm test | tail', 'npm test'],
    ["npm test -- 'a | b' 2>&1 | tail -5", "npm test -- 'a | b'"],
    ['npm test 2>&1|tee log', 'npm test'],
  ])('B-91 FEA-02 hints at the command whose exit code the pipe of %j would hide', (command, before) => {
    expect(failure(() => splitCommand(command)).hint).toBe(before);
  });

  it('B-91 the hint quotes a word that a shell would not understand either', () => {
    const { hint } = failure(() => splitCommand('python -c print(1)'));
    expect(hint).toBe("python -c 'print(1)'");
  });

  it('B-91 quotes the hint so that it can be pasted', () => {
    const { hint } = failure(() => splitCommand("echo 'it works' | cat"));
    expect(hint).toBe(`sh -c 'echo '\\''it works'\\'' | cat'`);
    expect(splitCommand(hint ?? '')).toEqual(['sh', '-c', "echo 'it works' | cat"]);
  });

  it.each([
    [' \t ', 'command.empty'],
    ["'' a", 'command.empty'],
    ["a 'b", 'command.quote'],
    ['a "b\\"', 'command.quote'],
    ['a b\\', 'command.quote'],
  ])('B-91 refuses %j (%s)', (command, code) => {
    expect(failure(() => splitCommand(command))).toMatchObject({ exit: 2, code });
  });
});

describe('testArgv', () => {
  it.each([
    ['npm test', '', ['npm', 'test']],
    ['a b::*', 'cargo test {}', ['cargo', 'test', 'a b::*']],
    ['a', 'run --only={} --log={}.txt', ['run', '--only=a', '--log=a.txt']],
    ['a b', 'cargo test', ['cargo', 'test', 'a b']],
    ['$(rm -rf /); "x', 'cargo test {}', ['cargo', 'test', '$(rm -rf /); "x']],
    ["$& $1 $' {}", 'run {}', ['run', "$& $1 $' {}"]],
  ])('FEA-02 B-91 makes of test %j in %j one literal word', (test, template, argv) => {
    expect(testArgv(test, template)).toEqual(argv);
  });

  it('FEA-02 refuses a template that needs a shell', () => {
    expect(failure(() => testArgv('a', 'run {} | tee log')).code).toBe('command.shell');
  });
});

describe('formatArgv', () => {
  it.each([
    [['npm', 'test'], 'npm test'],
    [['cargo', 'test', 'nats::*'], 'cargo test nats::*'],
    [['a', '', 'b c'], "a '' 'b c'"],
    [['a', "it's"], `a 'it'\\''s'`],
    [['a', '$HOME', '~', '#x', 'é'], "a '$HOME' '~' '#x' 'é'"],
  ])('shows %j as %s', (argv, shown) => {
    expect(formatArgv(argv)).toBe(shown);
  });

  it('returns a command that splits into the same words', () => {
    const pieces = fc.constantFrom(...'a \'"\\$`\n\t|*=😀\0');
    const word = fc.oneof(fc.string({ unit: pieces }), fc.string({ unit: 'binary' }));
    const program = word.filter((text) => text !== '' && !/^[A-Za-z_]\w*=/.test(text));
    fc.assert(
      fc.property(program, fc.array(word), (first, rest) => {
        expect(splitCommand(formatArgv([first, ...rest]))).toEqual([first, ...rest]);
      }),
      { numRuns: 500 },
    );
  });
});
