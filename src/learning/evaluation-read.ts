import { eachRecord, untilSettled } from '../ledger/read.js';
import type { Context } from '../project/project.js';
import { EvaluationTable } from './evaluation-table.js';

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
