import type { Rule } from '../rule.js';
import { ALNUM, HEX, marked, near, token, URL64, UUID } from './make.js';

const MAILGUN = 'https://documentation.mailgun.com/docs/mailgun/api-reference/authentication/';
const TWILIO = 'https://www.twilio.com/docs/iam/api-keys';
const BREVO = 'https://developers.brevo.com/docs/getting-started';

export const mailRules = (): readonly Rule[] => [
  marked(
    'sendgrid-key',
    'SendGrid API key',
    'https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys',
    'sg.',
    'SG\\.[\\w-]{16,32}\\.[\\w-]{32,64}',
  ),
  token('mailgun-key', 'Mailgun API key', MAILGUN, ['key-', 'pubkey-'], `${HEX}{32}`),
  near(
    'mailgun-sending-key',
    'Mailgun sending key',
    MAILGUN,
    'mailgun',
    `(?:${HEX}{32}-${HEX}{8}-${HEX}{8}|${HEX}{64})`,
  ),
  marked(
    'mailchimp-key',
    'Mailchimp API key',
    'https://mailchimp.com/developer/marketing/guides/quick-start/',
    '-us',
    `${HEX}{32}-us\\d{1,2}`,
  ),
  near(
    'mandrill-key',
    'Mailchimp Transactional API key',
    'https://mailchimp.com/developer/transactional/guides/quick-start/',
    ['mandrill', 'mailchimp'],
    `(?:md-)?${URL64}{22}`,
  ),
  token('twilio-api-key', 'Twilio API key', TWILIO, 'SK', `${HEX}{32}`),
  near(
    'twilio-auth-token',
    'Twilio auth token',
    'https://www.twilio.com/docs/iam/api/authtoken',
    'twilio',
    `${HEX}{32}`,
  ),
  marked(
    'twilio-account-credentials',
    'Twilio account with auth token',
    TWILIO,
    'ac',
    `AC${HEX}{32}:${HEX}{32}`,
  ),
  near(
    'postmark-token',
    'Postmark server token',
    'https://postmarkapp.com/developer/api/overview',
    'postmark',
    UUID,
  ),
  token('brevo-key', 'Brevo API key', BREVO, 'xkeysib-', `${HEX}{64}-${ALNUM}{16}`),
  token('brevo-smtp-key', 'Brevo SMTP key', BREVO, 'xsmtpsib-', `${HEX}{64}-${ALNUM}{16}`),
  token(
    'resend-key',
    'Resend API key',
    'https://resend.com/docs/api-reference/api-keys/create-api-key',
    're_',
    `(?:${ALNUM}{8}_${ALNUM}{20,40}|${ALNUM}{28,40})`,
  ),
  near(
    'mailjet-key',
    'Mailjet API key',
    'https://dev.mailjet.com/email/guides/',
    ['mailjet', 'mj_apikey', 'mj_api'],
    `${HEX}{32}`,
  ),
  near(
    'messagebird-key',
    'MessageBird access key',
    'https://developers.messagebird.com/api/',
    ['messagebird', 'message_bird'],
    `${ALNUM}{25}`,
  ),
  near(
    'vonage-secret',
    'Vonage API secret',
    'https://developer.vonage.com/en/account/secret-management',
    ['vonage', 'nexmo'],
    `${ALNUM}{16}`,
  ),
  near(
    'sparkpost-key',
    'SparkPost API key',
    'https://developers.sparkpost.com/api/#header-authentication',
    'sparkpost',
    `${HEX}{40}`,
  ),
  token(
    'klaviyo-key',
    'Klaviyo private key',
    'https://developers.klaviyo.com/en/docs/authenticate_',
    'pk_',
    `${HEX}{34}`,
  ),
  token(
    'mailersend-token',
    'MailerSend token',
    'https://developers.mailersend.com/general.html#authentication',
    'mlsn.',
    `${HEX}{64}`,
  ),
  token(
    'onesignal-key',
    'OneSignal API key',
    'https://documentation.onesignal.com/docs/en/keys-and-ids',
    ['os_v2_app_', 'os_v2_org_'],
    '[a-z0-9]{80,140}',
  ),
  near(
    'plivo-token',
    'Plivo auth token',
    'https://www.plivo.com/docs/account/api/request/',
    'plivo',
    `${ALNUM}{40}`,
  ),
  near('textmagic-key', 'Textmagic API key', 'https://docs.textmagic.com/', 'textmagic', `${ALNUM}{30}`),
];
