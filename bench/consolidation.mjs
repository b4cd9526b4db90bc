// Figures of consolidation: a whole process over 1,000 cycles, and weighing 100,000 evaluations against JSON.parse alone.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { child, loadKit } from './ledger.mjs';
import { median, run, wallRatios } from './measure.mjs';
import { forge, makeSmall } from './repositories.mjs';

const ROUNDS = 5;

/** A repository with so many evaluated cycles, verified once; some fail, some contradict what others show. */
async function makeEvaluated(scratch, env, count) {
  const place = makeSmall(mkdtempSync(join(scratch, `evaluated-${count}-`)), env);
  const { planLines, recordId } = await import(await loadKit(scratch));
  const plan = (tier, bodies) => {
    const file = join(place.cwd, '.forge', 'memory', `${tier}.jsonl`);
    const genesis = run(['head', '-1', file], place).trim();
    const tip = { ledger: JSON.parse(genesis).ledger, heads: [recordId(genesis)], maxN: 1 };
    const { lines } = planLines(tier, tip, null, bodies);
    writeFileSync(file, `${[genesis, ...lines.map(({ line }) => line)].join('\n')}\n`);
    return lines.map(({ id }) => id);
  };
  const stamp = { at: '2026-03-01T10:00:00.000Z', session: null, actor: 'supervisor', kind: 'cycle' };
  const cycles = Array.from({ length: count }, (_, i) => ({
    ...stamp,
    cycle: i + 1,
    task_id: `T-${i % 50}`,
    exit_code: 0,
  }));
  const executions = plan('execution', cycles);
  plan(
    'evaluation',
    cycles.map(({ cycle, task_id }, i) => ({
      ...stamp,
      cycle,
      task_id,
      execution: executions[i],
      classification: i % 7 === 3 ? 'FAILURE' : 'SUCCESS',
      environment_valid: true,
      governance_violations: [],
      quality_signals: { coverage: i % 100, lint: true },
      regression_flags: [],
      improvement_proposals: [],
      patterns: [{ pattern: `pattern number ${i % 500}`, scope: 'execution', holds: i % 997 !== 0 }],
    })),
  );
  run(['git', 'add', '-A'], place);
  run(['git', 'commit', '-qm', 'evaluated cycles'], place);
  run(['sleep', '1'], place);
  run(['git', 'update-index', '-q', '--refresh'], place);
  await child(scratch, place, 'remember');
  return place;
}

/** `memory consolidate`, which is due; it writes nothing, so that it is due again in the next round. */
export const consolidation = async (_figure, { env }, scratch) => {
  const place = await makeEvaluated(scratch, env, 1000);
  const [ratio] = wallRatios([forge('memory', 'consolidate', '-n', '--json')], place);
  return ratio;
};

/** How long weighing takes, in units of JSON.parse of the same lines. */
export const weighing = async (_figure, { env }, scratch) => {
  const place = await makeEvaluated(scratch, env, 100_000);
  const ratios = [];
  const times = [];
  for (let round = 0; round < ROUNDS; round++) {
    const bare = await child(scratch, place, 'bare-parse');
    const weighed = await child(scratch, place, 'weigh');
    ratios.push(weighed.ms / bare.ms);
    times.push(weighed.ms);
  }
  return { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios), ms: median(times) };
};
