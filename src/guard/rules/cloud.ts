import { mixtureOf } from '../entropy.js';
import { looksRandom } from '../placeholder.js';
import type { Rule } from '../rule.js';
import { ALNUM, HEX, marked, near, STD64, token, URL64, UUID } from './make.js';

const AWS = 'https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html';
const AWS_KEYS = 'https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_access-keys.html';
const AWS_TEMPORARY =
  'https://docs.aws.amazon.com/IAM/latest/UserGuide/id_credentials_temp_use-resources.html';
const BEDROCK = 'https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html';
const GOOGLE = 'https://cloud.google.com/docs/authentication/api-keys';
const GOOGLE_OAUTH = 'https://developers.google.com/identity/protocols/oauth2';
const CLOUDFLARE = 'https://developers.cloudflare.com/fundamentals/api/get-started/token-formats/';
const DIGITALOCEAN = 'https://docs.digitalocean.com/reference/api/create-personal-access-token/';
const ALIBABA = 'https://www.alibabacloud.com/help/en/ram/user-guide/create-an-accesskey-pair';

/** A digest is as long, but has no capitals. */
const isMixed = (secret: string): boolean =>
  mixtureOf(secret) >= 0.15 && /[A-Z]/.test(secret) && looksRandom(secret);

export const cloudRules = (): readonly Rule[] => [
  token('aws-access-key-id', 'AWS access key id', AWS, ['AKIA', 'ASIA', 'ABIA', 'ACCA'], '[A-Z0-9]{16}'),
  near(
    'aws-secret-access-key',
    'AWS secret access key',
    AWS_KEYS,
    ['aws', 'secret_access_key', 'secretaccesskey', 'secret access key', 'secret-access-key'],
    `${STD64}{40}`,
    isMixed,
  ),
  near(
    'aws-session-token',
    'AWS session token',
    AWS_TEMPORARY,
    ['session_token', 'sessiontoken', 'security_token', 'security-token', 'securitytoken', 'session token'],
    `${STD64}{100,2048}={0,2}`,
    isMixed,
  ),
  token('aws-bedrock-key', 'Amazon Bedrock API key', BEDROCK, 'ABSK', `${STD64}{80,300}={0,2}`),
  token(
    'aws-bedrock-short-term-key',
    'Amazon Bedrock short-term API key',
    BEDROCK,
    'bedrock-api-key-',
    `${STD64}{40,2048}={0,2}`,
  ),
  token(
    'aws-mws-token',
    'Amazon MWS auth token',
    'https://docs.developer.amazonservices.com/en_US/dev_guide/DG_Registering.html',
    'amzn.mws.',
    UUID,
  ),
  token('google-api-key', 'Google API key', GOOGLE, 'AIza', `${URL64}{35}`),
  token(
    'google-oauth-client-secret',
    'Google OAuth client secret',
    GOOGLE_OAUTH,
    'GOCSPX-',
    `${URL64}{24,40}`,
  ),
  token('google-oauth-access-token', 'Google OAuth access token', GOOGLE_OAUTH, 'ya29.', '[\\w.-]{20,2048}'),
  token('google-oauth-refresh-token', 'Google OAuth refresh token', GOOGLE_OAUTH, '1//0', `${URL64}{40,512}`),
  token('digitalocean-pat', 'DigitalOcean personal access token', DIGITALOCEAN, 'dop_v1_', `${HEX}{64}`),
  token('digitalocean-oauth-token', 'DigitalOcean OAuth token', DIGITALOCEAN, 'doo_v1_', `${HEX}{64}`),
  token('digitalocean-refresh-token', 'DigitalOcean refresh token', DIGITALOCEAN, 'dor_v1_', `${HEX}{64}`),
  token('cloudflare-user-token', 'Cloudflare user API token', CLOUDFLARE, 'cfut_', `${URL64}{40,64}`),
  token('cloudflare-account-token', 'Cloudflare account API token', CLOUDFLARE, 'cfat_', `${URL64}{40,64}`),
  token('cloudflare-global-key', 'Cloudflare global API key', CLOUDFLARE, 'cfk_', `${URL64}{37,64}`),
  near(
    'cloudflare-legacy-token',
    'Cloudflare API token or key',
    'https://developers.cloudflare.com/fundamentals/api/get-started/create-token/',
    ['cloudflare', 'cf_api', 'x-auth-key'],
    `(?:${URL64}{40}|${HEX}{37})`,
  ),
  token(
    'cloudflare-origin-ca-key',
    'Cloudflare origin CA key',
    'https://developers.cloudflare.com/fundamentals/api/get-started/ca-keys/',
    'v1.0-',
    `${HEX}{24}-${HEX}{146}`,
  ),
  token(
    'heroku-key',
    'Heroku API key',
    'https://devcenter.heroku.com/articles/authentication',
    'HRKU-',
    `${URL64}{36,80}`,
  ),
  near(
    'heroku-legacy-key',
    'Heroku API key',
    'https://devcenter.heroku.com/articles/authentication',
    'heroku',
    UUID,
  ),
  token('alibaba-access-key-id', 'Alibaba Cloud AccessKey id', ALIBABA, 'LTAI', `${ALNUM}{12,26}`),
  near(
    'alibaba-access-key-secret',
    'Alibaba Cloud AccessKey secret',
    ALIBABA,
    ['alibaba', 'aliyun', 'accesskeysecret', 'access_key_secret', 'access-key-secret'],
    `${ALNUM}{30}`,
  ),
  token(
    'tencent-secret-id',
    'Tencent Cloud SecretId',
    'https://www.tencentcloud.com/document/product/598/34228',
    'AKID',
    `${ALNUM}{32}`,
  ),
  near(
    'ibm-cloud-key',
    'IBM Cloud API key',
    'https://cloud.ibm.com/docs/account?topic=account-userapikey',
    ['ibm', 'bluemix', 'watson', 'iam_api_key', 'iam_apikey'],
    `${URL64}{44}`,
  ),
  near(
    'oracle-auth-token',
    'Oracle Cloud auth token',
    'https://docs.oracle.com/en-us/iaas/Content/Registry/Tasks/registrygettingauthtoken.htm',
    ['oci_auth_token', 'oci auth token', 'oci_token', 'oracle auth token', 'oracle cloud auth token', 'ocir'],
    '[\\w<>()[\\]{}.#;:+~^-]{20}',
  ),
  near(
    'linode-token',
    'Linode personal access token',
    'https://techdocs.akamai.com/linode-api/reference/get-started',
    'linode',
    `${HEX}{64}`,
  ),
  near(
    'scaleway-secret-key',
    'Scaleway secret key',
    'https://www.scaleway.com/en/docs/iam/how-to/create-api-keys/',
    ['scw_secret', 'scaleway', 'scw_'],
    UUID,
  ),
  token(
    'flyio-token',
    'Fly.io access token',
    'https://fly.io/docs/security/tokens/',
    ['fm2_', 'fm1r_', 'fm1a_', 'fo1_'],
    '[A-Za-z0-9+/_-]{40,4096}={0,3}',
  ),
  token(
    'vercel-token',
    'Vercel token',
    'https://vercel.com/docs/sign-in-with-vercel/tokens',
    ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'],
    `${ALNUM}{24,80}`,
  ),
  near(
    'vercel-legacy-token',
    'Vercel token',
    'https://vercel.com/docs/rest-api',
    ['vercel', 'now_token'],
    `${ALNUM}{24}`,
    isMixed,
  ),
  token(
    'netlify-token',
    'Netlify access token',
    'https://docs.netlify.com/api/get-started/',
    ['nfp_', 'nfc_', 'nfo_', 'nfb_', 'nfu_'],
    `${ALNUM}{32,48}`,
  ),
  token('render-key', 'Render API key', 'https://render.com/docs/api', 'rnd_', `${ALNUM}{24,64}`),
  near('railway-token', 'Railway token', 'https://docs.railway.com/guides/public-api', 'railway', UUID),
  near(
    'hetzner-token',
    'Hetzner Cloud token',
    'https://docs.hetzner.cloud/reference/cloud#authentication',
    ['hetzner', 'hcloud'],
    `${ALNUM}{64}`,
  ),
  near(
    'vultr-key',
    'Vultr API key',
    'https://www.vultr.com/api/#section/Authentication',
    'vultr',
    '[A-Z0-9]{36}',
  ),
  token(
    'yandex-cloud-key',
    'Yandex Cloud API key',
    'https://yandex.cloud/en/docs/iam/concepts/authorization/api-key',
    'AQVN',
    `${URL64}{35,40}`,
  ),
  marked(
    'yandex-iam-token',
    'Yandex Cloud IAM token',
    'https://yandex.cloud/en/docs/iam/concepts/authorization/iam-token',
    't1.9eu',
    't1\\.9eu[\\w-]{30,400}={0,2}\\.[\\w-]{60,100}={0,2}',
  ),
];
