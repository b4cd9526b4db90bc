/** The command line's bundle keeps what stands behind this, the protocol's library too, in a file of its own. */
export { serve } from '../mcp/server.js';
