/** The inner parts that the ledger figures measure; bundled for each run. */

export { withLock } from '../src/core/lock.js';
export { systemWorld } from '../src/core/world.js';
export { streamGit } from '../src/git/client.js';
export { readRemovedLines } from '../src/git/memory.js';
export { assess } from '../src/learning/consolidation.js';
export { recordCycles } from '../src/learning/record.js';
export { surroundings } from '../src/ledger/append.js';
export { inspectMemory } from '../src/ledger/inspect.js';
export { settleMemory } from '../src/ledger/integrity.js';
export { genesisLine, ledgerId, recordId } from '../src/ledger/rules/record.js';
export { planLines } from '../src/ledger/rules/segment.js';
export { appendRecords } from '../src/ledger/store/ledger.js';
export { openContext } from '../src/project/project.js';
