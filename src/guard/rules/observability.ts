import type { Rule } from '../rule.js';
import { ALNUM, HEX, marked, near, token, URL64, UUID, webhook } from './make.js';

const NEW_RELIC = 'https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/';
const SENTRY = 'https://docs.sentry.io/account/auth-tokens/';
const GRAFANA =
  'https://grafana.com/docs/grafana-cloud/security-and-account-management/authentication-and-permissions/';
const DATADOG = 'https://docs.datadoghq.com/account_management/api-app-keys/';
const AXIOM = 'https://axiom.co/docs/reference/tokens';

export const observabilityRules = (): readonly Rule[] => [
  near(
    'datadog-key',
    'Datadog API or application key',
    DATADOG,
    ['datadog', 'dd_api', 'dd-api', 'dd_app', 'dd-app', 'ddapi'],
    `(?:${HEX}{40}|${HEX}{32})`,
  ),
  token('newrelic-user-key', 'New Relic user key', NEW_RELIC, 'NRAK-', '[A-Z0-9]{27,42}'),
  token('newrelic-browser-key', 'New Relic browser key', NEW_RELIC, 'NRJS-', `${HEX}{19}`),
  token('newrelic-insert-key', 'New Relic insert key', NEW_RELIC, ['NRII-', 'NRIQ-'], `${URL64}{32}`),
  token('newrelic-rest-key', 'New Relic REST API key', NEW_RELIC, 'NRRA-', `${HEX}{42}`),
  marked(
    'newrelic-license-key',
    'New Relic license key',
    NEW_RELIC,
    'nral',
    '(?:eu01xx|[0-9a-f]{6})[0-9a-f]{26,30}(?:FFFF)?NRAL',
  ),
  token('sentry-org-token', 'Sentry organization token', SENTRY, 'sntrys_', '[A-Za-z0-9+/=_-]{60,500}'),
  token('sentry-user-token', 'Sentry user token', SENTRY, ['sntryu_', 'sntrya_'], `${HEX}{64}`),
  webhook(
    'sentry-dsn',
    'Sentry DSN with secret key',
    'https://docs.sentry.io/concepts/key-terms/dsn-explainer/',
    'sentry',
    /:\/\/[0-9a-f]{32}:(?<secret>[0-9a-f]{32})(?=@[\w.-]{1,100}\/\d)/g,
  ),
  token(
    'grafana-cloud-token',
    'Grafana Cloud access policy token',
    GRAFANA,
    'glc_',
    '[A-Za-z0-9+/_-]{32,400}={0,3}',
  ),
  token(
    'grafana-service-token',
    'Grafana service account token',
    'https://grafana.com/docs/grafana/latest/administration/service-accounts/',
    'glsa_',
    `${ALNUM}{32}_${HEX}{8}`,
  ),
  token(
    'grafana-key',
    'Grafana API key',
    'https://grafana.com/docs/grafana/latest/administration/service-accounts/migrate-api-keys/',
    'eyJrIjoi',
    `${ALNUM}{60,400}={0,3}`,
  ),
  marked(
    'honeycomb-key',
    'Honeycomb API key',
    'https://docs.honeycomb.io/configure/environments/manage-api-keys/',
    'hc',
    'hc[abmx][a-z][iklm]_[A-Za-z0-9]{52,64}',
  ),
  marked(
    'dynatrace-token',
    'Dynatrace token',
    'https://docs.dynatrace.com/docs/manage/identity-access-management/access-tokens-and-oauth-clients/access-tokens',
    'dt0',
    'dt0[a-z]\\d{2}\\.[A-Z0-9]{8,24}\\.[A-Z0-9]{64}',
  ),
  near(
    'splunk-token',
    'Splunk HEC token',
    'https://docs.splunk.com/Documentation/Splunk/latest/Data/UsetheHTTPEventCollector',
    ['splunk', 'hec_token'],
    UUID,
  ),
  near(
    'pagerduty-key',
    'PagerDuty API key',
    'https://support.pagerduty.com/main/docs/api-access-keys',
    ['pagerduty', 'pager_duty', 'pd_api'],
    '(?:[uy]\\+[\\w+-]{18}|[\\w+-]{20}|[0-9a-f]{32})',
  ),
  near(
    'sumologic-key',
    'Sumo Logic access key',
    'https://help.sumologic.com/docs/manage/security/access-keys/',
    ['sumologic', 'sumo_logic', 'sumo logic', 'sumo_'],
    `${ALNUM}{64}`,
  ),
  near(
    'rollbar-token',
    'Rollbar access token',
    'https://docs.rollbar.com/docs/access-tokens',
    'rollbar',
    `${HEX}{32}`,
  ),
  near(
    'logzio-token',
    'Logz.io token',
    'https://docs.logz.io/docs/user-guide/admin/authentication-tokens/log-shipping-tokens/',
    ['logz.io', 'logzio', 'logz_io'],
    '(?:[A-Za-z]{32}|[0-9a-f-]{36})',
  ),
  near(
    'loggly-token',
    'Loggly token',
    'https://documentation.solarwinds.com/en/success_center/loggly/content/admin/token-based-api-authentication.htm',
    'loggly',
    UUID,
  ),
  near(
    'bugsnag-key',
    'BugSnag API key',
    'https://docs.bugsnag.com/api/data-access/',
    'bugsnag',
    `${HEX}{32}`,
  ),
  token('axiom-token', 'Axiom token', AXIOM, ['xaat-', 'xapt-'], UUID),
  token(
    'posthog-key',
    'PostHog personal API key',
    'https://posthog.com/docs/api',
    ['phx_', 'phs_'],
    `${ALNUM}{40,56}`,
  ),
  token(
    'statsig-key',
    'Statsig secret key',
    'https://docs.statsig.com/access-management/api-keys/',
    ['secret-', 'console-'],
    `${ALNUM}{40,56}`,
  ),
  near(
    'opsgenie-key',
    'Opsgenie API key',
    'https://support.atlassian.com/opsgenie/docs/api-key-management/',
    'opsgenie',
    UUID,
  ),
  near(
    'amplitude-key',
    'Amplitude secret key',
    'https://amplitude.com/docs/apis/authentication',
    'amplitude',
    `${HEX}{32}`,
  ),
  near(
    'mixpanel-secret',
    'Mixpanel secret',
    'https://developer.mixpanel.com/reference/project-secret',
    'mixpanel',
    `${HEX}{32}`,
  ),
  marked(
    'uptimerobot-key',
    'UptimeRobot API key',
    'https://uptimerobot.com/api/',
    ['u0', 'u1', 'u2', 'u3', 'u4', 'u5', 'u6', 'u7', 'u8', 'u9'],
    'u\\d{6,8}-[0-9a-f]{24}',
  ),
];
