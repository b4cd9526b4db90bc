/** The command line's bundle keeps what stands behind this in a file of its own, which is read when this is. */
export { guardTable, scanBytes, scanFields, scanText } from './engine.js';
