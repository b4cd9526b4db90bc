import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Bench, type ByteGit, words } from './bytes.js';
import { gitError } from './client.js';

/**
 * Those of the paths that git would ignore if the working tree had the `.gitignore` files of these trees, one tree after
 * the other. What git ignores now is not asked for. Paths are bytes.
 */
export async function ignoredIn(
  bench: Bench,
  trees: readonly string[],
  paths: readonly string[],
): Promise<Set<string>> {
  const found = new Set<string>();
  if (paths.length === 0) return found;
  for (const [i, tree] of trees.entries())
    for (const path of await ignoredBy(bench, { tree, top: join(bench.folder, `rules-${i}`) }, paths))
      found.add(path);
  return found;
}

/** The rules alone are written, to a folder of the bench: git reads them from files. */
async function ignoredBy(
  { git, stream, repository }: Bench,
  { tree, top }: { tree: string; top: string },
  paths: readonly string[],
): Promise<string[]> {
  const listed = words(await git(['ls-tree', '-r', '-z', '--full-tree', '--name-only', tree]));
  const rules = listed.filter((path) => basename(path) === '.gitignore');
  if (rules.length === 0) return [];
  await writeRules(git, { tree, top, rules });
  // It takes none literally; with this in front none is taken for a pattern.
  const args = ['--no-literal-pathspecs', '-C', top, 'check-ignore', '--no-index', '-z', '--stdin'];
  const chunks: Buffer[] = [];
  const { code, stderr } = await stream(args, (chunk) => chunks.push(chunk), {
    env: { GIT_DIR: repository.gitDir, GIT_WORK_TREE: top },
    input: Buffer.from(paths.map((path) => `./${path}\0`).join(''), 'latin1'),
  });
  // It says by 1 that none is.
  if (code > 1) throw gitError(['check-ignore'], stderr);
  return words(Buffer.concat(chunks).toString('latin1')).map((path) => path.slice(2));
}

async function writeRules(
  git: ByteGit,
  { tree, top, rules }: { tree: string; top: string; rules: readonly string[] },
): Promise<void> {
  const env = { GIT_INDEX_FILE: `${top}.index` };
  mkdirSync(top, { recursive: true });
  await git(['read-tree', tree], { env });
  const input = rules.map((path) => `${path}\0`).join('');
  await git(['checkout-index', '-f', '-q', '-z', '--stdin', `--prefix=${top}/`], { env, input });
}
