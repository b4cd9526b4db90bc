import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SHIPPED = ['.claude-plugin', 'agents', 'bin', 'docs', 'schemas', 'scripts', 'src', 'templates'];
const PAGES = ['AGENTS.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'README.md'];

/** npm does not have forge-memory, and its package `forge` is another project's: it would be fetched and run. */
const WRONG = [
  /\b(?:npx|npm exec|pnpm dlx|yarn dlx|bunx) (?!--no-install )(?:-\S+ )*forge\b/,
  /\b(?:npm|pnpm|yarn|bun) (?:install|i|add|exec|dlx)(?: [\w@./~-]+)*? forge(?:-memory)?(?![\w-])/,
  /\b(?:npx|bunx) .*\bforge-memory\b/,
];

it('AGT-01 GIT-07 no shipped text installs or runs a package that npm does not have as forge', () => {
  const inFolders = SHIPPED.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  const files = [...inFolders, ...PAGES].filter((name) => statSync(join(ROOT, name)).isFile());
  const found = files.flatMap((name) =>
    readFileSync(join(ROOT, name), 'utf8')
      .split('\n')
      .filter((line) => WRONG.some((wrong) => wrong.test(line)))
      .map((line) => `${name}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});
