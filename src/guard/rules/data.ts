import type { Rule } from '../rule.js';
import { ALNUM, HEX, marked, near, STD64, token, URL64, UUID } from './make.js';

const VAULT = 'https://developer.hashicorp.com/vault/docs/concepts/tokens';
const DOPPLER = 'https://docs.doppler.com/reference/auth-token-formats';
const SUPABASE = 'https://supabase.com/docs/guides/api/api-keys';
const PLANETSCALE = 'https://planetscale.com/docs/api/reference/service-tokens';
const DATABRICKS = 'https://docs.databricks.com/aws/en/dev-tools/auth/pat';
const ONE_PASSWORD = 'https://developer.1password.com/docs/service-accounts/';
const CONFLUENT =
  'https://docs.confluent.io/cloud/current/security/authenticate/workload-identities/service-accounts/api-keys/overview.html';

export const dataRules = (): readonly Rule[] => [
  token('vault-service-token', 'Vault service token', VAULT, 'hvs.', `${URL64}{24,400}`),
  token('vault-batch-token', 'Vault batch token', VAULT, 'hvb.', `${URL64}{24,600}`),
  token('vault-recovery-token', 'Vault recovery token', VAULT, 'hvr.', `${URL64}{24,400}`),
  near('vault-legacy-token', 'Vault token', VAULT, 'vault', `[sbr]\\.${ALNUM}{24}`),
  marked(
    'terraform-token',
    'HCP Terraform token',
    'https://developer.hashicorp.com/terraform/cloud-docs/users-teams-organizations/api-tokens',
    '.atlasv1.',
    `${ALNUM}{14}\\.atlasv1\\.[\\w-]{60,80}`,
  ),
  token('doppler-personal-token', 'Doppler personal token', DOPPLER, 'dp.pt.', `${ALNUM}{40,44}`),
  token(
    'doppler-service-token',
    'Doppler service token',
    DOPPLER,
    'dp.st.',
    `(?:[a-z0-9_-]{2,35}\\.)?${ALNUM}{40,44}`,
  ),
  token(
    'doppler-token',
    'Doppler token',
    DOPPLER,
    ['dp.ct.', 'dp.sa.', 'dp.scim.', 'dp.audit.', 'dp.said.'],
    `${ALNUM}{40,44}`,
  ),
  token(
    'pulumi-token',
    'Pulumi access token',
    'https://www.pulumi.com/docs/administration/access-identity/access-tokens/',
    'pul-',
    `${HEX}{40}`,
  ),
  token(
    'supabase-token',
    'Supabase access token',
    'https://supabase.com/docs/reference/api/introduction',
    ['sbp_', 'sbp_oauth_', 'sbp_v0_'],
    `${HEX}{40}`,
  ),
  token('supabase-secret-key', 'Supabase secret key', SUPABASE, 'sb_secret_', `${URL64}{22,64}`),
  token('planetscale-token', 'PlanetScale service token', PLANETSCALE, 'pscale_tkn_', '[\\w.=-]{32,64}'),
  token('planetscale-password', 'PlanetScale password', PLANETSCALE, 'pscale_pw_', '[\\w.=-]{32,64}'),
  token(
    'planetscale-oauth-token',
    'PlanetScale OAuth token',
    PLANETSCALE,
    'pscale_oauth_',
    '[\\w.=-]{32,64}',
  ),
  token('databricks-token', 'Databricks token', DATABRICKS, ['dapi', 'dkea', 'dose'], `${HEX}{32}(?:-\\d)?`),
  token(
    'onepassword-service-token',
    '1Password service account token',
    ONE_PASSWORD,
    'ops_',
    'eyJ[\\w-]{100,2000}={0,3}',
  ),
  token(
    'onepassword-secret-key',
    '1Password secret key',
    'https://support.1password.com/secret-key/',
    'A3-',
    '[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}',
  ),
  token('neon-key', 'Neon API key', 'https://neon.com/docs/manage/api-keys', 'napi_', `${ALNUM}{48,72}`),
  token(
    'mongodb-service-secret',
    'MongoDB Atlas service account secret',
    'https://www.mongodb.com/docs/atlas/api/service-accounts-overview/',
    'mdb_sa_sk_',
    `${URL64}{36,48}`,
  ),
  near(
    'mongodb-atlas-key',
    'MongoDB Atlas private key',
    'https://www.mongodb.com/docs/atlas/configure-api-access/',
    ['mongodb_atlas', 'mongodb atlas', 'atlas_private', 'atlas private'],
    UUID,
  ),
  near(
    'upstash-token',
    'Upstash token',
    'https://upstash.com/docs/redis/features/restapi',
    'upstash',
    '(?:A[\\w-]{49,80}={0,2}|[0-9a-f]{32}|[0-9a-f-]{36})',
  ),
  near(
    'turso-token',
    'Turso token',
    'https://docs.turso.tech/cli/db/tokens/create',
    ['turso', 'libsql'],
    'eyJ[\\w-]{10,200}\\.eyJ[\\w-]{10,800}\\.[\\w-]{40,200}',
  ),
  near(
    'snowflake-token',
    'Snowflake programmatic access token or password',
    'https://docs.snowflake.com/en/user-guide/programmatic-access-tokens',
    'snowflake',
    '(?:eyJ[\\w.-]{100,1000}|[A-Za-z0-9+/]{100,400}={0,2})',
  ),
  token('confluent-secret', 'Confluent API secret', CONFLUENT, 'cflt', `${STD64}{60}`),
  near('confluent-legacy-secret', 'Confluent API secret', CONFLUENT, 'confluent', `${STD64}{64}`),
  token(
    'aiven-password',
    'Aiven service password',
    'https://aiven.io/docs/platform/concepts/service_credentials',
    'AVNS_',
    `${URL64}{15,32}`,
  ),
  near(
    'aiven-token',
    'Aiven token',
    'https://aiven.io/docs/platform/concepts/authentication-tokens',
    'aiven',
    '[A-Za-z0-9+/]{300,500}={0,2}',
  ),
  token(
    'prefect-key',
    'Prefect API key',
    'https://docs.prefect.io/v3/how-to-guides/cloud/manage-users/api-keys',
    ['pnu_', 'pnb_'],
    `${ALNUM}{36}`,
  ),
  token(
    'cockroach-key',
    'CockroachDB Cloud API key',
    'https://www.cockroachlabs.com/docs/cockroachcloud/managing-access',
    'CCDB1_',
    `${ALNUM}{22}_${ALNUM}{40}`,
  ),
  near(
    'influxdb-token',
    'InfluxDB token',
    'https://docs.influxdata.com/influxdb/v2/admin/tokens/',
    ['influx'],
    `${URL64}{86}==`,
  ),
  near(
    'algolia-key',
    'Algolia API key',
    'https://www.algolia.com/doc/guides/security/api-keys/',
    'algolia',
    `${HEX}{32}`,
  ),
  token('xata-key', 'Xata API key', 'https://xata.io/docs/platform/security', 'xau_', `${ALNUM}{32,48}`),
  near(
    'fauna-secret',
    'Fauna secret',
    'https://docs.fauna.com/fauna/current/learn/security/keys/',
    'fauna',
    `fn${URL64}{38}`,
  ),
  token(
    'dbt-token',
    'dbt Cloud token',
    'https://docs.getdbt.com/docs/dbt-cloud-apis/authentication',
    ['dbtc_', 'dbtu_'],
    `${URL64}{32,64}`,
  ),
  near(
    'consul-token',
    'Consul token',
    'https://developer.hashicorp.com/consul/docs/security/acl/tokens',
    ['consul_http_token', 'consul_token', 'consul token', 'x-consul-token'],
    UUID,
  ),
  near(
    'meilisearch-key',
    'Meilisearch key',
    'https://www.meilisearch.com/docs/reference/api/keys',
    ['meilisearch', 'meili_'],
    `(?:${HEX}{64}|${ALNUM}{40,64})`,
  ),
];
