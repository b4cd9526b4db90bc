// What the package must hold, and what it may.

const EXPECTED = [
  'package.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'bin/forge.js',
  'bin/package.json',
  'docs/tutorial.md',
  'docs/format.md',
  'dist/index.js',
  'dist/LICENSES.txt',
  'dist/forge.1',
  'templates/topics/kfr.md',
  'dist/cli/document.cjs',
  'dist/cli/daily.cjs',
  'dist/cli/full.cjs',
  'dist/cli/inquirer-prompts.cjs',
  'dist/cli/nats.cjs',
  'dist/cli/execa.cjs',
  'dist/cli/hono.cjs',
  'dist/cli/hono-node-server.cjs',
  'dist/cli/murmurhash3js-revisited.cjs',
  'dist/ui/page.js',
  'dist/ui/page.css',
  'dist/cli/chalk.cjs',
  'dist/cli/commander.cjs',
  'dist/cli/picomatch.cjs',
  'dist/cli/re2js.cjs',
  'dist/cli/yaml.cjs',
  'dist/cli/simple-git.cjs',
  'dist/types/index.d.ts',
  'templates/ci/github.yml',
  'templates/ci/gitlab-ci.yml',
  'templates/forge/config.toml',
  'templates/forge/gitignore',
  'templates/init/head.sh',
  'schemas/cycle.json',
  'schemas/features.json',
  '.claude-plugin/marketplace.json',
  'agents/claude/.claude-plugin/plugin.json',
  'agents/claude/.mcp.json',
  'agents/claude/hooks/hooks.json',
  'agents/claude/skills/forge-memory/SKILL.md',
  'agents/copilot/hooks/forge.json',
  'agents/opencode/plugins/forge.js',
];

/** Everything that belongs in the package; the rest is stray. */
const ALLOWED = [
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/,
  /^bin\/(forge\.js|package\.json)$/,
  /^dist\/(index\.js|LICENSES\.txt|forge\.1)$/,
  /^dist\/chunks\/[\w-]+\.js$/,
  /^dist\/cli\/(chalk|commander|daily|document|full|execa|hono|hono-node-server|inquirer-prompts|murmurhash3js-revisited|nats|picomatch|re2js|simple-git|yaml)\.cjs$/,
  /^dist\/ui\/page\.(js|css)$/,
  /^dist\/types\/.+\.d\.ts$/,
  /^docs\/([\w-]+\.md|check-ledger\.sh|demo\.svg)$/,
  /^templates\//,
  /^schemas\/[\w-]+\.json$/,
  /^\.claude-plugin\/marketplace\.json$/,
  /^agents\/.+\.(js|json|md)$/,
];

/** Scripts that npm runs where the package is installed; nothing may depend on them, so there are none. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall'];

/** Bytes, packed. */
const MAX_SIZE = 2_000_000;

export function checkSize(size) {
  if (size > MAX_SIZE) throw new Error(`The package is too large: ${size} bytes, ${MAX_SIZE} are allowed.`);
}

/** Throws when the package lacks something, or has something that does not belong in it. */
export function checkContent(paths, manifest) {
  const missing = EXPECTED.filter((path) => !paths.includes(path));
  if (missing.length > 0) throw new Error(`The package lacks ${missing.join(', ')}.`);
  const stray = paths.filter((path) => !ALLOWED.some((pattern) => pattern.test(path)));
  if (stray.length > 0) throw new Error(`These do not belong in the package: ${stray.join(', ')}.`);
  const scripts = INSTALL_SCRIPTS.filter((name) => name in manifest.scripts);
  if (scripts.length > 0) throw new Error(`The package has install scripts: ${scripts.join(', ')}.`);
}
