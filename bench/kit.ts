/** The inner parts that the ledger figures measure. Bundled for each run. */

export { systemWorld } from '../src/core/world.js';
export { openBucket, takeOnServer } from '../src/events/bucket.js';
export { flushEvents } from '../src/events/publish.js';
export { closeServer, openServer } from '../src/events/server.js';
export { assess, planFor } from '../src/learning/consolidation.js';
export { append } from '../src/ledger/append.js';
export { stateOf } from '../src/ledger/compare.js';
export { formatContainer } from '../src/ledger/container.js';
export { formatRecord, recordId } from '../src/ledger/record.js';
export { verify } from '../src/ledger/verify.js';
export { openContext } from '../src/project/project.js';
