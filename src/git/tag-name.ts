/** Where the tags of checkpoints are, below `refs/tags/`. */
export const TAG_FOLDER = 'checkpoint';

export const tagOf = (name: string): string => `${TAG_FOLDER}/${name}`;
