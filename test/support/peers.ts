/** Kept beside the scripts, which use it too. */
export { peer } from '../../scripts/peers.mjs';
