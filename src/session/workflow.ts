import type { World } from '../core/world.js';

/**
 * AGT-06: how an agent works with forge, in five lines. Tools are named as this client calls them. An agent with only
 * a shell gets the commands.
 */
export function workflow({ tool }: Pick<World, 'tool'>, begin = 'Continue from what stands below'): string[] {
  const by = (name: string, command: string): string => (tool ? tool(name) : `\`forge ${command}\``);
  return [
    `forge keeps the memory of this project. ${begin}; never edit .forge/memory yourself.`,
    `- A goal, a rule to follow, a question you cannot answer yet: put it into working memory when it comes up, and settle it there (${by('session_working_memory_update', 'kfr patch --add "OpenQuestion:TEXT"')}).`,
    `- After each step: say what was done, and what comes next (${by('progress_add', 'log "TEXT"')}).`,
    `- A lesson for later sessions (${by('learn', 'learn "TEXT" --as success')}); a feature is done when its tests passed here (${by('feature_verify', 'done ID')}).`,
    `- Before you stop: answer, dismiss or park every open question. When the task is done: end the session (${by('session_end', 'end --next "TEXT"')}).`,
  ];
}
