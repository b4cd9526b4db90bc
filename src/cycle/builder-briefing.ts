import { oneLine } from '../core/text.js';
import type { Feature } from '../feature/rules.js';
import type { PatternCandidate } from '../learning/candidates.js';
import { SCOPES } from '../learning/evaluation.js';
import { describeCandidate } from '../learning/proven.js';

/** What a builder needs to know about its cycle. */
export interface BuilderTask {
  task: string;
  feature: Feature | undefined;
  /** In focus. */
  files: readonly string[];
  /** As far as the commands of the tests name them. */
  testFiles: readonly string[];
  candidates: readonly PatternCandidate[];
}

/** Quoted, because words of the project are data. */
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
    ...list('Test files', testFiles),
    '',
    tests.length > 0
      ? 'When you are done, forge runs these tests and everything that passed before. The results decide, not your report.'
      : 'This task has no test, so the cycle is a partial success at best. forge reruns what passed before.',
    '',
    'You may not',
    '- change .forge/config.toml, .forge/init.sh, scripts in .forge/ or the tests of features: a violation of the rules.',
    '- write memory (memory record, promote, consolidate), make checkpoints, roll back, or change trust and hooks: refused, and recorded as a breach.',
    '- edit test files to make them pass: the cycle is then a partial success at best.',
    '',
    'Report what the next cycle should know, one JSON object per line:',
    `    echo '{"pattern":"the e2e tests need port 0"}' >> "$FORGE_OBSERVATIONS"`,
    `Its scope is ${SCOPES[0]} unless you add "scope": ${SCOPES.slice(1).join(', ')}. Add "holds": false for something that did not hold.`,
    'forge session end --learned "…" and forge note add "…" report the same way.',
    ...(candidates.length === 0
      ? []
      : [
          '',
          'Open candidates. Confirm one that you saw again, in whatever words:',
          ...candidates.map((candidate) => `- ${quote(describeCandidate(candidate))}`),
          `    echo '{"confirm":"${candidates[0]?.id}"}' >> "$FORGE_OBSERVATIONS"`,
        ]),
    '',
  ].join('\n');
}
