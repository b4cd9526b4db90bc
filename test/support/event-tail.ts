import { startBinary } from './forge.js';
import { follow, type Project } from './project.js';

/** `forge events tail` as a process of its own, with what it has printed. */
export function tail(project: Project, env: NodeJS.ProcessEnv, ...args: string[]) {
  const child = startBinary(project.dir, ['events', 'tail', ...args], env);
  const out = Object.assign(follow(child), { code: undefined as number | null | undefined, child });
  child.on('close', (code) => {
    out.code = code;
  });
  return out;
}
