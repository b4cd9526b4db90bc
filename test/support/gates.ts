import { ada, at, start } from './agents.js';
import { makeForge } from './forge-project.js';
import { add, patch } from './kfrs.js';

/** An interrupted session with a goal and an open question, which ada left at minute 0. */
export async function makeInterrupted() {
  const project = await makeForge();
  const { session } = await start(project, at(ada, 0), '--task', 'logout');
  const operations = [add('OpenQuestion', 'which cookie?'), add('Goal', 'logout works')];
  await patch(project, operations, { world: at(ada, 0) });
  return { project, id: session.id };
}
