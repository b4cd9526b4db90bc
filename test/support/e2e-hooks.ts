import { runBinary } from './forge.js';
import { snapshot } from './forge-project.js';
import { MESSAGE } from './message.js';
import { commitAll, makeFolder, type Project, run } from './project.js';
import { makeForgeRepository } from './typed.js';

export const forge = (project: Pick<Project, 'dir'>, ...args: string[]) => runBinary(project.dir, args);

/** A repository whose `.forge/` is committed. */
export function makeCommitted(): Project {
  const project = makeForgeRepository();
  commitAll(project, MESSAGE);
  return project;
}

/** An empty repository, which is `origin` from now on. */
export function addRemote(project: Project): string {
  const remote = makeFolder();
  run(remote, 'git', ['init', '-q', '--bare']);
  project.git('remote', 'add', 'origin', remote);
  return remote;
}

export function commit(project: Project, env: NodeJS.ProcessEnv = {}, message = MESSAGE) {
  return run(project.dir, 'git', ['commit', '-q', '--allow-empty', '-F', '-'], { input: message, env });
}

/** All of the git dir that hooks are made of. */
export const hookFiles = (project: Project): Record<string, string> =>
  Object.fromEntries(
    Object.entries(snapshot(project.dir)).filter(
      ([path]) =>
        /^\.(git\/(hooks|config|info)|husky)|lefthook|githooks/.test(path) || path === '.git/forge/hook',
    ),
  );
