/** What a person types to install forge, repair it or update it: npm does not have it yet, so it runs from a clone. */
const IN_CLONE = '   (in your clone of forge)';
export const LINK_HINT = `npm link${IN_CLONE}`;
export const REBUILD_HINT = `npm ci && npm run build${IN_CLONE}`;
export const UPDATE_HINT = `Update forge: git pull && npm ci && npm run build${IN_CLONE}`;
