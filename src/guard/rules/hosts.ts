import { hasCrcSuffix } from '../checksum.js';
import { looksRandom } from '../placeholder.js';
import type { Rule } from '../rule.js';
import { ALNUM, HEX, near, token } from './make.js';

const GITHUB =
  'https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github';
const GITLAB = 'https://docs.gitlab.com/security/tokens/';
const BITBUCKET = 'https://support.atlassian.com/bitbucket-cloud/docs/access-tokens/';
const GITEA = 'https://docs.gitea.com/development/api-usage';

/** Bodies of 36 end with their checksum; GitHub reserves longer ones. */
const isGitHub = (body: string): boolean => (body.length === 36 ? hasCrcSuffix(body) : looksRandom(body));

const github = (id: string, what: string, prefix: string): Rule =>
  token(id, `GitHub ${what}`, GITHUB, prefix, `${ALNUM}{36,255}`, isGitHub);

/** GitLab's newer tokens say after a dot to which cell they belong. */
const gitlab = (id: string, what: string, prefix: string): Rule =>
  token(id, `GitLab ${what}`, GITLAB, prefix, '(?:t\\d_)?[\\w-]{20,300}(?:\\.[0-9a-z]{2}\\.[0-9a-z]{9})?');

export const hostRules = (): readonly Rule[] => [
  github('github-pat', 'personal access token', 'ghp_'),
  github('github-oauth-token', 'OAuth token', 'gho_'),
  github('github-user-token', 'app user token', 'ghu_'),
  github('github-server-token', 'app installation token', 'ghs_'),
  github('github-refresh-token', 'refresh token', 'ghr_'),
  token('github-fine-grained-pat', 'GitHub fine-grained token', GITHUB, 'github_pat_', '\\w{36,255}'),
  near(
    'github-legacy-token',
    'GitHub token or client secret',
    'https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps',
    [
      'github_token',
      'github_pat',
      'github token',
      'gh_token',
      'github_client_secret',
      'github client secret',
    ],
    `${HEX}{40}`,
  ),
  gitlab('gitlab-pat', 'personal, project or group access token', 'glpat-'),
  gitlab('gitlab-deploy-token', 'deploy token', 'gldt-'),
  gitlab('gitlab-runner-token', 'runner authentication token', 'glrt-'),
  gitlab('gitlab-runner-registration-token', 'runner registration token', 'glrtr-'),
  gitlab('gitlab-legacy-runner-token', 'runner registration token', 'GR1348941'),
  gitlab('gitlab-trigger-token', 'pipeline trigger token', 'glptt-'),
  gitlab('gitlab-job-token', 'CI/CD job token', 'glcbt-'),
  gitlab('gitlab-oauth-secret', 'OAuth application secret', 'gloas-'),
  gitlab('gitlab-feed-token', 'feed token', 'glft-'),
  gitlab('gitlab-scim-token', 'SCIM token', 'glsoat-'),
  gitlab('gitlab-mail-token', 'incoming mail token', 'glimt-'),
  gitlab('gitlab-agent-token', 'Kubernetes agent token', 'glagent-'),
  gitlab('gitlab-workspace-token', 'workspace token', 'glwt-'),
  gitlab('gitlab-feature-flag-token', 'feature flags client token', 'glffct-'),
  token(
    'bitbucket-app-password',
    'Bitbucket app password',
    'https://support.atlassian.com/bitbucket-cloud/docs/app-passwords/',
    'ATBB',
    `${ALNUM}{24,60}`,
  ),
  token('bitbucket-access-token', 'Bitbucket access token', BITBUCKET, 'ATCTT3', '[\\w=-]{60,300}'),
  near('gitea-token', 'Gitea or Forgejo token', GITEA, ['gitea', 'codeberg', 'forgejo'], `${HEX}{40}`),
  token(
    'sourcegraph-token',
    'Sourcegraph access token',
    'https://sourcegraph.com/docs/cli/how-tos/creating-an-access-token',
    'sgp_',
    `(?:(?:${HEX}{16}|local)_)?${HEX}{40}`,
  ),
];
