/**
 * forge as a library: `openForge(dir)` gives the same operations as the command line, as plain values.
 * Nothing here prints, asks or exits; every failure is a ForgeError. A part is loaded when it is first used.
 */

export type { ForgeOptions } from './library/forge.js';
export * from './library/forge.js';
export * from './library/outside.js';
export * from './library/types.js';
