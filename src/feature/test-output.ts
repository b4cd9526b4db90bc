/** How test runners say that they ran nothing. The first pattern must match, the second must not. */
const NOTHING_RAN: readonly (readonly [nothing: RegExp, something: RegExp | null])[] = [
  // go test: `ok  example.com/a  0.1s [no tests to run]`, `?  example.com/b  [no test files]`
  [/\[no tests? (?:to run|files)\]$/m, /^(?:ok|FAIL)\s+\S+\s+(?:\d[\d.]*s|\(cached\))$/m],
  // cargo test: one count for each target
  [/^running 0 tests$/m, /^running [1-9]\d* tests?$/m],
  // node --test: `# tests 0` or `ℹ tests 0`
  [/^(?:#|ℹ) tests 0$/m, null],
  // pytest, unittest, mocha, jest and vitest, rspec, phpunit
  [/^=*\s*no tests (?:ran|collected)\b/m, null],
  [/^Ran 0 tests in /m, null],
  [/^\s*0 passing\b/m, /^\s*[1-9]\d* (?:passing|failing)\b/m],
  [/^No tests? (?:files )?found, exiting with code 0/m, null],
  [/^0 examples, 0 failures/m, null],
  [/^No tests executed!/m, null],
];

/** Whether the end of a run's output says that no test ran: such a run shows neither pass nor failure. */
export const ranNoTest = (output: string): boolean =>
  NOTHING_RAN.some(([nothing, something]) => nothing.test(output) && !something?.test(output));
