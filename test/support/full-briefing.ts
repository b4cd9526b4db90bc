import { fixedClock, forgeJson } from './forge.js';
import { makeForge } from './forge-project.js';
import { commitAll, type Project } from './project.js';

export const tokens = (text: string): number => Math.ceil(Buffer.byteLength(text, 'utf8') / 4);

/** A project with something in every section, and much in most. */
export async function full(): Promise<Project> {
  const project = await makeForge();
  const world = fixedClock();
  const list = Array.from({ length: 60 }, (_, i) => ({ id: `F-${i}`, name: `Feature ${i} ünd mehr` }));
  await forgeJson(project, ['feature', 'import', '-'], { world, stdin: JSON.stringify(list) });
  const patterns = (kind: string) =>
    Array.from({ length: 100 }, (_, i) => ({
      context: `c${i}`,
      [kind]: `${kind} ${i}`,
      resolution: 'r',
      learned_at: 'x',
    }));
  project.write(
    '.forge/memory/long-term/knowledge.json',
    JSON.stringify({
      schema_version: '1.0',
      patterns: { successful: patterns('approach'), failed: patterns('issue') },
      invariants: Array.from({ length: 30 }, (_, i) => `Invariant ${i}`),
    }),
  );
  project.write(
    '.forge/linear/active.json',
    JSON.stringify({
      schema_version: '1.0',
      issues: Array.from({ length: 20 }, (_, i) => ({
        linear_id: `SX9-${i}`,
        title: `Issue ${i}`,
        state: 'started',
      })),
    }),
  );
  commitAll(project, 'Much');
  await forgeJson(project, ['session', 'start', '--task', 'The task'], { world });
  await forgeJson(project, ['session', 'end', '--next', 'the next step'], { world });
  await forgeJson(project, 'focus set --task "The task" --file a.js --blocker "no key"', { world });
  return project;
}

/** Nobody can foresee the marks around the data: they differ from run to run. */
export const unmarked = (text = ''): string => text.replaceAll(/(data|end) [0-9a-f]{12}\b/g, '$1 MARK');
