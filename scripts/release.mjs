// Prepares a release: `npm run release -- 0.2.0` sets the version and the date, runs all checks, commits and tags.
// Nothing is pushed or published; docs/releasing.md says how that is done. `--no-check` leaves the checks out.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();
const npm = (...args) => execFileSync('npm', args, { stdio: 'inherit' });

function fail(message) {
  console.error(`release: ${message}`);
  process.exit(1);
}

/** -1, 0 or 1: which of two versions is the later one. */
function compare(a, b) {
  const parts = (version) => version.split('.').map(Number);
  const [left, right] = [parts(a), parts(b)];
  const at = left.findIndex((part, index) => part !== right[index]);
  return at < 0 ? 0 : Math.sign(left[at] - right[at]);
}

/** `git@host:owner/name.git` and `https://host/owner/name` as npm writes them; null for a path on this machine. */
function repositoryUrl(remote) {
  const [, host, path] =
    /^(?:https:\/\/(?:[^@/]*@)?|(?:ssh:\/\/)?git@)([^:/]+)[:/](.+?)(?:\.git)?\/?$/.exec(remote) ?? [];
  return host ? `git+https://${host}/${path}.git` : null;
}

const [version, ...options] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+$/.test(version ?? '')) fail('which version? npm run release -- 0.2.0');
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
if (compare(version, manifest.version) < 0) fail(`${version} is older than ${manifest.version}`);
if (git('status', '--porcelain') !== '') fail('there are uncommitted changes; commit or stash them');
if (git('tag', '--list', `v${version}`) !== '') fail(`there is a tag v${version} already`);
const changelog = readFileSync('CHANGELOG.md', 'utf8');
const heading = '## [Unreleased]\n';
if (!changelog.split(heading)[1]?.split('\n## ')[0]?.trim())
  fail('CHANGELOG.md has nothing under [Unreleased]');
const repository = repositoryUrl(git('config', '--get', 'remote.origin.url'));
if (repository === null) fail('origin is no repository on a server; npm needs its address for provenance');

const date = new Date().toISOString().slice(0, 10);
writeFileSync('CHANGELOG.md', changelog.replace(heading, `${heading}\n## [${version}] - ${date}\n`));
for (const file of ['package.json', 'package-lock.json']) {
  const content = JSON.parse(readFileSync(file, 'utf8'));
  content.version = version;
  if (content.packages) content.packages[''].version = version;
  else content.repository = { type: 'git', url: repository };
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);
}
if (!options.includes('--no-check'))
  try {
    // Generated files name the version too.
    npm('run', 'docs');
    npm('run', 'check');
    npm('publish', '--dry-run');
  } catch {
    git('checkout', '--', '.');
    fail('a check failed; nothing was changed');
  }
git('commit', '-qam', `release: ${version}`);
git('tag', '-a', `v${version}`, '-m', `forge ${version}`);
console.log(`Committed and tagged v${version}. To publish it: git push --follow-tags`);
