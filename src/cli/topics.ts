/** What `forge help TOPIC` explains. */
export const TOPICS: readonly (readonly [name: string, summary: string])[] = [];
