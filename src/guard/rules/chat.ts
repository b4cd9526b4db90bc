import { looksRandom } from '../placeholder.js';
import type { Rule } from '../rule.js';
import { ALNUM, HEX, marked, near, token, URL64, UUID, webhook } from './make.js';

const SLACK = 'https://docs.slack.dev/authentication/tokens/';
const DISCORD = 'https://discord.com/developers/docs/reference#authentication';

/** Numbers of workspace and user, then the secret part. */
const slack = (id: string, what: string, prefixes: string | readonly string[]): Rule =>
  token(
    id,
    `Slack ${what}`,
    SLACK,
    prefixes,
    `(?:\\d{1,2}-)?(?:[A-Z0-9]{8,14}-){0,4}[A-Za-z0-9]{16,200}`,
    (body) => looksRandom(body.slice(body.lastIndexOf('-') + 1)),
  );

/** A bot token begins with its account's number in base64. */
const isDiscord = (secret: string): boolean =>
  /^\d{15,22}$/.test(Buffer.from(secret.split('.')[0] ?? '', 'base64').toString('latin1')) &&
  looksRandom(secret);

export const chatRules = (): readonly Rule[] => [
  slack('slack-rotating-token', 'rotating token', ['xoxe.xoxb-', 'xoxe.xoxp-', 'xoxe-']),
  slack('slack-bot-token', 'bot token', 'xoxb-'),
  slack('slack-user-token', 'user token', 'xoxp-'),
  slack('slack-legacy-token', 'legacy token', ['xoxa-', 'xoxr-', 'xoxs-', 'xoxo-', 'xoxc-', 'xoxd-']),
  slack('slack-app-token', 'app-level token', 'xapp-'),
  webhook(
    'slack-webhook',
    'Slack webhook',
    'https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks',
    'hooks.slack.com',
    /hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)\/(?<secret>[A-Za-z0-9/]{30,120})/g,
  ),
  marked(
    'discord-bot-token',
    'Discord bot token',
    DISCORD,
    /\.[\w-]{6}\.[\w-]{27}/,
    '[MNO][A-Za-z0-9_-]{22,29}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,45}',
    isDiscord,
  ),
  webhook(
    'discord-webhook',
    'Discord webhook',
    'https://discord.com/developers/docs/resources/webhook',
    '/api/webhooks/',
    /discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/\d{15,22}\/(?<secret>[\w-]{60,100})/g,
  ),
  near(
    'discord-client-secret',
    'Discord client secret',
    'https://discord.com/developers/docs/topics/oauth2',
    'discord',
    `${URL64}{32}`,
  ),
  marked(
    'telegram-bot-token',
    'Telegram bot token',
    'https://core.telegram.org/bots/api#authorizing-your-bot',
    ':aa',
    '\\d{8,12}:AA[\\w-]{32,34}',
    (secret) => looksRandom(secret.slice(secret.indexOf(':') + 1)),
  ),
  webhook(
    'teams-webhook',
    'Microsoft Teams webhook',
    'https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook',
    'webhook.office.com',
    /webhook\.office\.com\/webhookb2\/(?<secret>[0-9a-f-]{36}@[0-9a-f-]{36}\/IncomingWebhook\/[0-9A-Za-z]{32}\/[0-9a-f-]{36}(?:\/[\w-]{1,80})?)/g,
  ),
  webhook(
    'google-chat-webhook',
    'Google Chat webhook',
    'https://developers.google.com/workspace/chat/quickstart/webhooks',
    'chat.googleapis.com',
    /chat\.googleapis\.com\/v1\/spaces\/[\w-]{6,40}\/messages\?key=[\w-]{39}&token=(?<secret>[\w%-]{20,100})/g,
  ),
  webhook(
    'zapier-webhook',
    'Zapier webhook',
    'https://help.zapier.com/hc/en-us/articles/8496288690317-Trigger-Zaps-from-webhooks',
    'hooks.zapier.com',
    /hooks\.zapier\.com\/hooks\/catch\/(?<secret>\d{4,12}\/[a-z0-9]{6,16})/g,
  ),
  near(
    'mattermost-token',
    'Mattermost token',
    'https://developers.mattermost.com/integrate/reference/personal-access-token/',
    ['mattermost', 'mm_token'],
    '[a-z0-9]{26}',
  ),
  near(
    'rocketchat-token',
    'Rocket.Chat token',
    'https://developer.rocket.chat/apidocs/authentication',
    ['rocket.chat', 'rocketchat', 'rocket_chat', 'rocket chat'],
    `${URL64}{43}`,
  ),
  near('zulip-key', 'Zulip API key', 'https://zulip.com/api/api-keys', 'zulip', `${ALNUM}{32}`),
  near(
    'twitch-token',
    'Twitch token',
    'https://dev.twitch.tv/docs/authentication/',
    ['twitch', 'oauth:'],
    '[a-z0-9]{30}',
  ),
  marked(
    'matrix-token',
    'Matrix access token',
    'https://spec.matrix.org/latest/client-server-api/#client-authentication',
    'syt_',
    'syt_[A-Za-z0-9+/=_-]{2,200}_[A-Za-z]{20}_[A-Za-z0-9]{6}',
  ),
  near(
    'webex-token',
    'Webex token',
    'https://developer.webex.com/docs/bots',
    'webex',
    `${ALNUM}{64}_[A-Z0-9]{4}_${UUID}`,
  ),
  near(
    'zoom-secret',
    'Zoom client secret',
    'https://developers.zoom.us/docs/internal-apps/create/',
    'zoom',
    `(?:${ALNUM}{32}|${HEX}{64})`,
  ),
];
