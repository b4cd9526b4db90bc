import { oneLine } from '../core/text.js';
import type { Feature } from '../feature/rules.js';
import type { PatternCandidate } from '../learning/candidates.js';
import { SCOPES } from '../learning/evaluation.js';
import { describeCandidate } from '../learning/proven.js';

/** What a builder has to know of its cycle. */
export interface BuilderTask {
  task: string;
  feature: Feature | undefined;
  /** In focus. */
  files: readonly string[];
  /** What the tests consist of, as far as their commands tell. */
  testFiles: readonly string[];
  candidates: readonly PatternCandidate[];
}

/** Words of the project stand in quotes: they are data. */
const quote = (text: string): string => JSON.stringify(oneLine(text, 300));
const list = (name: string, texts: readonly string[]): string[] =>
  texts.length === 0 ? [] : [`- ${name}: ${texts.slice(0, 20).map(quote).join(', ')}`];

/** GOV-05: the task, what it is judged by, what a builder may not do, and how it reports what it noticed. */
export function describeCycle({ task, feature, files, testFiles, candidates }: BuilderTask): string {
  const tests = feature?.tests ?? [];
  return [
    '## Your cycle',
    '',
    `- Task: ${quote(feature ? `${feature.id}: ${feature.name}` : task)}`,
    ...list('Test', tests),
    ...list('Files in focus', files),
    ...list('Files that the tests consist of', testFiles),
    '',
    tests.length > 0
      ? 'forge runs these tests when you are done, and all that passed before. They decide, not what you report.'
      : 'No test judges this task, so it is at most a partial success. forge runs again what passed before.',
    '',
    'You may not',
    '- change .forge/config.toml, .forge/init.sh, scripts in .forge/ or the tests of features: a violation of the rules.',
    '- write memory (memory record, promote, consolidate), make checkpoints, roll back, or change trust and hooks: refused, and recorded as a breach.',
    '- edit the files of tests to make them pass: the cycle is then a partial success at best.',
    '',
    'Did you notice what the next one should know? Report it, one JSON object a line:',
    `    echo '{"pattern":"the e2e tests need port 0"}' >> "$FORGE_OBSERVATIONS"`,
    `Its scope is ${SCOPES[0]} unless you add "scope": ${SCOPES.slice(1).join(', ')}. "holds": false reports what did not hold.`,
    'forge session end --learned "…" and forge note add "…" report the same way.',
    ...(candidates.length === 0
      ? []
      : [
          '',
          'Open candidates. Confirm one that you saw again, in these words or others:',
          ...candidates.map((candidate) => `- ${quote(describeCandidate(candidate))}`),
          `    echo '{"confirm":"${candidates[0]?.id}"}' >> "$FORGE_OBSERVATIONS"`,
        ]),
    '',
  ].join('\n');
}
