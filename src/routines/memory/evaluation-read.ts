import { EvaluationTable } from '../../domain/learning/evaluation-table.js';
import type { Context } from '../context.js';
import { eachRecord, untilSettled } from './read.js';

/** The evaluation ledger as a table: all of it, archives too. What is not to be shown is there for its links. */
export function readEvaluations(context: Context): EvaluationTable {
  return untilSettled(() => {
    const table = new EvaluationTable();
    const isHidden = eachRecord(
      context,
      'evaluation',
      {},
      (id, record) => table.add(id, record),
      (piece, start, end) => table.addSpan(piece, start, end),
    );
    if (isHidden) table.hide(isHidden);
    return table;
  });
}
