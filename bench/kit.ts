/** The inner parts that the ledger figures measure; bundled for each run. */
export { streamGit } from '../src/adapters/git.js';
export { readRemovedLines } from '../src/adapters/git-memory.js';
export { systemWorld } from '../src/adapters/world.js';
export { genesisLine, ledgerId, recordId } from '../src/domain/ledger.js';
export { planLines } from '../src/domain/segment.js';
export { assess } from '../src/routines/consolidation.js';
export { openContext } from '../src/routines/context.js';
export { inspectMemory, settleMemory } from '../src/routines/integrity.js';
export { surroundings } from '../src/routines/ledger.js';
export { recordCycles } from '../src/routines/memory-record.js';
export { appendRecords } from '../src/store/ledger.js';
export { withLock } from '../src/store/lock.js';
