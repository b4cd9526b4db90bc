/** The guard's rules and what applies them: one module, loaded when text is first looked at. */
export { scanBytes, scanFields } from './document.js';
export { scanText } from './scan.js';
export { guardTable } from './table.js';
