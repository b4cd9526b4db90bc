/** The command line's bundle keeps the library in a file of its own, which is read when a command is run. */
export { execa } from 'execa';
