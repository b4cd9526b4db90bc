import { hasCrcSuffix } from '../checksum.js';
import { looksRandom } from '../placeholder.js';
import type { Rule } from '../rule.js';
import { ALNUM, HEX, near, token, URL64 } from './make.js';

const DOCKER = 'https://docs.docker.com/security/access-tokens/';
const JFROG = 'https://jfrog.com/help/r/jfrog-platform-administration-documentation/access-tokens';

export const registryRules = (): readonly Rule[] => [
  token(
    'npm-token',
    'npm access token',
    'https://docs.npmjs.com/about-access-tokens',
    'npm_',
    `${ALNUM}{36,64}`,
    (body) => (body.length === 36 ? hasCrcSuffix(body) : looksRandom(body)),
  ),
  token(
    'pypi-token',
    'PyPI API token',
    'https://docs.pypi.org/api/secrets/',
    ['pypi-AgEIcHlwaS5vcmc', 'pypi-AgENdGVzdC5weXBpLm9yZw'],
    `${URL64}{50,1000}`,
  ),
  token(
    'rubygems-key',
    'RubyGems API key',
    'https://guides.rubygems.org/api-key-scopes/',
    'rubygems_',
    `${HEX}{48}`,
  ),
  token(
    'crates-token',
    'crates.io token',
    'https://doc.rust-lang.org/cargo/reference/publishing.html',
    'cio',
    `${ALNUM}{32}`,
  ),
  token(
    'nuget-key',
    'NuGet API key',
    'https://learn.microsoft.com/en-us/nuget/nuget-org/scoped-api-keys',
    'oy2',
    '[a-z0-9]{43}',
  ),
  token('docker-pat', 'Docker personal access token', DOCKER, 'dckr_pat_', `${URL64}{24,64}`),
  token('docker-oat', 'Docker organization access token', DOCKER, 'dckr_oat_', `${URL64}{24,64}`),
  token('jfrog-key', 'JFrog API key', JFROG, 'AKCp', `${ALNUM}{64,80}`),
  token('jfrog-reference-token', 'JFrog reference token', JFROG, 'cmVmdGtu', `${ALNUM}{56}`),
  token(
    'clojars-token',
    'Clojars deploy token',
    'https://github.com/clojars/clojars-web/wiki/Deploy-Tokens',
    'CLOJARS_',
    '[0-9a-z]{60}',
  ),
  token(
    'packagist-token',
    'Packagist token',
    'https://packagist.com/docs/api-authentication',
    ['packagist_uut_', 'packagist_out_', 'packagist_ack_', 'packagist_acs_'],
    `${HEX}{40,128}`,
  ),
  near(
    'hex-key',
    'Hex API key',
    'https://hex.pm/docs/publish',
    ['hex_api_key', 'hex.pm', 'hexpm'],
    `${HEX}{32}`,
  ),
  token(
    'deno-deploy-token',
    'Deno Deploy token',
    'https://docs.deno.com/deploy/manual/deployctl/',
    ['ddp_', 'ddo_'],
    `${ALNUM}{36,48}`,
  ),
  near(
    'anaconda-token',
    'Anaconda token',
    'https://www.anaconda.com/docs/tools/anaconda-org/user-guide/tokens',
    'anaconda',
    `[a-z]{2}-${HEX}{8}-${HEX}{4}-${HEX}{4}-${HEX}{4}-${HEX}{12}`,
  ),
  near(
    'cloudsmith-key',
    'Cloudsmith API key',
    'https://help.cloudsmith.io/docs/api-key',
    'cloudsmith',
    `${HEX}{40}`,
  ),
];
