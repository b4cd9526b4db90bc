import { forgeJson } from './forge.js';
import { makeForge, prepared } from './forge-project.js';
import { commitAll, type Project } from './project.js';

const CYCLES = Array.from({ length: 12 }, (_, i) =>
  JSON.stringify({
    ...{ task_id: 'CART', exit_code: i % 4 === 3 ? 1 : 0 },
    ...{ classification: i % 4 === 3 ? 'FAILURE' : 'SUCCESS', environment_valid: true },
    patterns: [{ pattern: 'retry the install once', scope: 'execution', holds: true }],
  }),
).join('\n');

const BUG = [
  ...['--field', 'reproduction_steps=Press save'],
  ...['--field', 'git_bisect_range=abc1234..def5678'],
];

/** A project with something in each view. */
export const makeLived = prepared(async () => {
  const project = await makeForge();
  const forge = (args: string[], options = {}) => forgeJson(project, args, options);
  project.write(
    'check.mjs',
    'import { existsSync } from "node:fs"; process.exit(existsSync("done") ? 0 : 1);\n',
  );
  await forge(['feature', 'add', 'CART', 'The cart keeps its content', '--test', 'node check.mjs']);
  await forge(['feature', 'add', 'PAY', 'Payment is retried', '--blocked-by', 'CART']);
  project.write('done', '');
  commitAll(project, 'Keep the cart');
  await forge(['start']);
  await forge(['log', 'Read the cart']);
  await forge(['done', 'CART']);
  await forge(['memory', 'record', '-'], { stdin: `${CYCLES}\n` });
  await forge(['checkpoint', 'create', 'CART', '--verify', 'node check.mjs']);
  await forge(['end', '--learned', 'keep it in storage', '--next', 'retry the payment']);
  await forge(['start']);
  await forge(['kfr', 'patch', '--goal', 'Payments survive', '--add', 'OpenQuestion:How long?']);
  await forge(['linear', 'new', '--template', 'bug', '--field', 'title=[BUG] Save fails', ...BUG]);
  return project;
});

/** The id of the only piece of knowledge. */
export const knownId = async (project: Project): Promise<string> =>
  (await forgeJson<{ knowledge: { knowledge_id: string }[] }>(project, ['memory', 'report'])).knowledge[0]
    ?.knowledge_id ?? '';
