import { mixtureOf } from '../entropy.js';
import { looksRandom } from '../placeholder.js';
import type { Rule } from '../rule.js';
import { ALNUM, HEX, marked, near, token, URL64, UUID } from './make.js';

const LINEAR = 'https://linear.app/developers/graphql';
const NOTION = 'https://developers.notion.com/docs/authorization';
const ATLASSIAN =
  'https://support.atlassian.com/atlassian-account/docs/manage-api-tokens-for-your-atlassian-account/';
const TRELLO = 'https://developer.atlassian.com/cloud/trello/guides/rest-api/authorization/';
const META = 'https://developers.facebook.com/docs/facebook-login/guides/access-tokens/';
const X = 'https://docs.x.com/resources/fundamentals/authentication/overview';
const DROPBOX = 'https://developers.dropbox.com/oauth-guide';

/** No word of that length is written so. */
const isRandomName = (secret: string): boolean => mixtureOf(secret) >= 0.15 && looksRandom(secret);

export const workRules = (): readonly Rule[] => [
  token('linear-key', 'Linear API key', LINEAR, 'lin_api_', `${ALNUM}{32,64}`),
  token('linear-oauth-token', 'Linear OAuth token', LINEAR, 'lin_oauth_', `${ALNUM}{32,72}`),
  token('notion-token', 'Notion integration token', NOTION, 'ntn_', `${ALNUM}{40,60}`),
  token('notion-legacy-token', 'Notion integration token', NOTION, 'secret_', `${ALNUM}{43}`),
  marked(
    'asana-pat',
    'Asana personal access token',
    'https://developers.asana.com/docs/personal-access-token',
    /\/\d{10,20}:[0-9a-f]{8}/,
    '[0-2]/\\d{10,20}(?:/\\d{10,20})?:[0-9a-f]{32}',
    (secret) => looksRandom(secret.slice(-32)),
  ),
  near(
    'asana-secret',
    'Asana token or client secret',
    'https://developers.asana.com/docs/oauth',
    'asana',
    `${HEX}{32}`,
  ),
  token('atlassian-token', 'Atlassian API token', ATLASSIAN, 'ATATT3', '[\\w=-]{60,300}'),
  near(
    'atlassian-legacy-token',
    'Atlassian API token',
    ATLASSIAN,
    ['atlassian', 'jira', 'confluence'],
    `${ALNUM}{24}`,
    isRandomName,
  ),
  token(
    'figma-token',
    'Figma token',
    'https://www.figma.com/developers/api#access-tokens',
    ['figd_', 'figu_', 'figor_', 'figoh_'],
    `${URL64}{36,64}`,
  ),
  token('trello-token', 'Trello token', TRELLO, 'ATTA', `${HEX}{64,72}[0-9A-F]{0,8}`),
  near('trello-key', 'Trello key', TRELLO, 'trello', `(?:${HEX}{64}|${HEX}{32})`),
  near(
    'monday-token',
    'monday.com token',
    'https://developer.monday.com/api-reference/docs/authentication',
    'monday',
    'eyJ[\\w-]{10,200}\\.eyJ[\\w-]{10,800}\\.[\\w-]{40,200}',
  ),
  near(
    'zendesk-token',
    'Zendesk API token',
    'https://developer.zendesk.com/api-reference/introduction/security-and-auth/',
    'zendesk',
    `${ALNUM}{40}`,
  ),
  near(
    'intercom-token',
    'Intercom access token',
    'https://developers.intercom.com/docs/build-an-integration/learn-more/authentication',
    'intercom',
    '(?:dG9r[A-Za-z0-9+/]{40,80}={0,2}|[A-Za-z0-9+/]{59}=)',
  ),
  marked(
    'hubspot-token',
    'HubSpot private app token',
    'https://developers.hubspot.com/docs/guides/apps/private-apps/overview',
    'pat-',
    `pat-[a-z]{2}\\d-${UUID}`,
  ),
  near(
    'calendly-token',
    'Calendly token',
    'https://developer.calendly.com/how-to-authenticate-with-personal-access-tokens',
    'calendly',
    'eyJ[\\w-]{10,200}\\.eyJ[\\w-]{10,800}\\.[\\w-]{40,200}',
  ),
  token(
    'readme-key',
    'ReadMe API key',
    'https://docs.readme.com/main/reference/intro/authentication',
    'rdme_',
    '[a-z0-9]{60,80}',
  ),
  token(
    'frameio-token',
    'Frame.io token',
    'https://developer.frame.io/docs/getting-started/authentication',
    'fio-u-',
    '[\\w=-]{60,72}',
  ),
  token(
    'easypost-key',
    'EasyPost API key',
    'https://docs.easypost.com/docs/authentication',
    ['EZAK', 'EZTK'],
    `${ALNUM}{54}`,
  ),
  token(
    'shippo-token',
    'Shippo API token',
    'https://docs.goshippo.com/docs/guides_general/authentication/',
    ['shippo_live_', 'shippo_test_'],
    `${HEX}{40}`,
  ),
  token('facebook-token', 'Facebook access token', META, 'EAA', `${ALNUM}{80,400}`),
  near(
    'facebook-secret',
    'Facebook app secret',
    META,
    ['facebook', 'fb_app', 'fb_secret', 'meta_app'],
    `${HEX}{32}`,
  ),
  token(
    'instagram-token',
    'Instagram access token',
    'https://developers.facebook.com/docs/instagram-platform/',
    'IGQ',
    `${URL64}{80,400}`,
  ),
  token('x-bearer-token', 'X (Twitter) bearer token', X, 'AAAAAAAAAAAAAAAAAAAAA', '[A-Za-z0-9%/+=]{60,150}'),
  near(
    'x-secret',
    'X (Twitter) key or secret',
    X,
    'twitter',
    `(?:${ALNUM}{50}|${ALNUM}{45}|${ALNUM}{35,44}|${ALNUM}{25}|\\d{8,20}-${ALNUM}{30,45})`,
  ),
  token('dropbox-token', 'Dropbox access token', DROPBOX, ['sl.', 'sl.u.'], `${URL64}{120,2000}`),
  near('dropbox-secret', 'Dropbox app secret', DROPBOX, 'dropbox', `(?:[a-z0-9]{15}|${URL64}{64})`),
  near(
    'linkedin-secret',
    'LinkedIn client secret',
    'https://learn.microsoft.com/en-us/linkedin/shared/authentication/client-credentials-flow',
    ['linkedin', 'linked_in'],
    '(?:[A-Za-z0-9]{16}|WPL_AP1\\.[A-Za-z0-9]{16}\\.[A-Za-z0-9+/=]{6,12})',
  ),
  near(
    'spotify-secret',
    'Spotify client secret',
    'https://developer.spotify.com/documentation/web-api/concepts/apps',
    'spotify',
    `${HEX}{32}`,
  ),
  token(
    'pinterest-token',
    'Pinterest token',
    'https://developers.pinterest.com/docs/getting-started/connect-app/',
    ['pina_', 'pinr.'],
    '[\\w.-]{32,400}',
  ),
  marked(
    'salesforce-token',
    'Salesforce session id',
    'https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/intro_oauth_and_connected_apps.htm',
    '00d',
    '00D[A-Za-z0-9]{12,15}![\\w.]{80,140}',
  ),
  marked(
    'clickup-token',
    'ClickUp token',
    'https://developer.clickup.com/docs/authentication',
    'pk_',
    'pk_\\d{5,10}_[A-Z0-9]{32}',
  ),
  near(
    'coda-token',
    'Coda API token',
    'https://coda.io/developers/apis/v1#section/Authentication',
    ['coda_api', 'coda.io', 'coda api', 'coda token'],
    UUID,
  ),
  token(
    'duffel-token',
    'Duffel token',
    'https://duffel.com/docs/api/overview/authentication',
    ['duffel_test_', 'duffel_live_'],
    '[\\w=-]{43}',
  ),
  near(
    'pipedrive-token',
    'Pipedrive API token',
    'https://pipedrive.readme.io/docs/core-api-concepts-authentication',
    'pipedrive',
    `${HEX}{40}`,
  ),
];
