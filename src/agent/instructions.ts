/** What the marked block in an agent's file of instructions says. Short: it stands in every prompt. */
export const instructionsText = (command: string): string =>
  [
    "Where a repository has a `.forge/` folder, it keeps an agent's memory. Never edit it by hand; use these commands:",
    '',
    `- \`${command} session start\` when you begin, \`${command} briefing\` for where the work stands,`,
    `  \`${command} session end\` when you are done.`,
    `- \`${command} progress add "…"\` for what you did, \`${command} progress next "…"\` for what comes next.`,
    `- \`${command} kfr patch --add "Constraint:…"\` for what must be right in the next few turns.`,
    `- A feature passes when \`${command} feature verify ID\` ran its tests, never because someone says so.`,
  ].join('\n');
