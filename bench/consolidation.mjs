// Figures of consolidation: a whole process over 1,000 cycles, and weighing 100,000 evaluations against JSON.parse alone.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { child } from './ledger.mjs';
import { median, rounds, summary, wallRatios } from './measure.mjs';
import { STAMP, settleRecords, writeRecords } from './records.mjs';
import { forge, makeSmall } from './repositories.mjs';

const ROUNDS = rounds(5);

/** A repository with so many evaluated cycles, verified once; some fail, some contradict what others show. */
async function makeEvaluated(scratch, env, count) {
  const place = makeSmall(mkdtempSync(join(scratch, `evaluated-${count}-`)), env);
  const stamp = { ...STAMP, kind: 'cycle' };
  const cycles = Array.from({ length: count }, (_, i) => ({
    ...stamp,
    cycle: i + 1,
    task_id: `T-${i % 50}`,
    exit_code: 0,
  }));
  const executions = await writeRecords(scratch, place, 'execution', cycles);
  await writeRecords(
    scratch,
    place,
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
  await settleRecords(scratch, place, 'evaluated cycles');
  return place;
}

/** `memory consolidate`, which is due; it writes nothing, so that it is due again in the next round. */
const consolidation = async (_figure, { env }, scratch) => {
  const place = await makeEvaluated(scratch, env, 1000);
  const [ratio] = wallRatios([forge('memory', 'consolidate', '-n', '--json')], place);
  return ratio;
};

/** How long weighing takes, in units of JSON.parse of the same lines. */
const weighing = async (_figure, { env }, scratch) => {
  const place = await makeEvaluated(scratch, env, 100_000);
  const ratios = [];
  const times = [];
  for (let round = 0; round < ROUNDS; round++) {
    const bare = await child(scratch, place, 'bare-parse');
    const weighed = await child(scratch, place, 'weigh');
    ratios.push(weighed.ms / bare.ms);
    times.push(weighed.ms);
  }
  return { ...summary(ratios), ms: median(times) };
};

export const CONSOLIDATION = [
  { name: 'consolidate, 1,000 cycles', limit: 2, measure: consolidation },
  { name: 'weigh 100,000 evaluations', unit: 'JSON.parse', limit: 2.5, measure: weighing },
].map((figure) => ({ ...figure, where: 'none' }));
