/** The inner parts that the ledger figures measure; bundled for each run. */
export { streamGit } from '../src/adapters/git/git.js';
export { readRemovedLines } from '../src/adapters/git/memory.js';
export { systemWorld } from '../src/adapters/world.js';
export { genesisLine, ledgerId, recordId } from '../src/domain/ledger/ledger.js';
export { planLines } from '../src/domain/ledger/segment.js';
export { openContext } from '../src/routines/context.js';
export { assess } from '../src/routines/memory/consolidation.js';
export { inspectMemory } from '../src/routines/memory/inspect.js';
export { settleMemory } from '../src/routines/memory/integrity.js';
export { surroundings } from '../src/routines/memory/ledger.js';
export { recordCycles } from '../src/routines/memory/record.js';
export { appendRecords } from '../src/store/ledger/ledger.js';
export { withLock } from '../src/store/lock.js';
