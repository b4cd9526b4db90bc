import type { Rule } from '../rule.js';
import { ALNUM, HEX, marked, near, token, URL64, UUID } from './make.js';

const STRIPE = 'https://docs.stripe.com/keys';
const SQUARE = 'https://developer.squareup.com/docs/build-basics/access-tokens';
const SHOPIFY = 'https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens';
const PLAID = 'https://plaid.com/docs/api/tokens/';
const COINBASE = 'https://docs.cdp.coinbase.com/get-started/docs/cdp-api-keys';

export const paymentRules = (): readonly Rule[] => [
  token(
    'paystack-key',
    'Paystack secret key',
    'https://paystack.com/docs/api/authentication/',
    ['sk_live_', 'sk_test_'],
    `${HEX}{40}`,
  ),
  token('stripe-secret-key', 'Stripe secret key', STRIPE, ['sk_live_', 'sk_test_'], `${ALNUM}{16,247}`),
  token(
    'stripe-restricted-key',
    'Stripe restricted key',
    STRIPE,
    ['rk_live_', 'rk_test_'],
    `${ALNUM}{16,247}`,
  ),
  token(
    'stripe-webhook-secret',
    'Stripe webhook secret',
    'https://docs.stripe.com/webhooks/signature',
    'whsec_',
    '[A-Za-z0-9+/_-]{24,128}={0,2}',
  ),
  token('square-access-token', 'Square access token', SQUARE, ['sq0atp-', 'sq0ats-'], `${URL64}{22,60}`),
  token('square-secret', 'Square OAuth secret', SQUARE, 'sq0csp-', `${URL64}{43,60}`),
  token('square-production-token', 'Square access token', SQUARE, 'EAAA', `${URL64}{60}`),
  marked(
    'braintree-access-token',
    'PayPal Braintree access token',
    'https://developer.paypal.com/braintree/docs/guides/extend/oauth/access-tokens',
    'access_token$',
    'access_token\\$(?:production|sandbox)\\$[0-9a-z]{16}\\$[0-9a-f]{32}',
  ),
  near(
    'paypal-secret',
    'PayPal client secret',
    'https://developer.paypal.com/api/rest/authentication/',
    'paypal',
    `[AE]${URL64}{79}`,
  ),
  token('shopify-access-token', 'Shopify access token', SHOPIFY, 'shpat_', '[0-9a-fA-F]{32,64}'),
  token('shopify-custom-app-token', 'Shopify custom app token', SHOPIFY, 'shpca_', '[0-9a-fA-F]{32,64}'),
  token('shopify-private-app-token', 'Shopify private app password', SHOPIFY, 'shppa_', '[0-9a-fA-F]{32,64}'),
  token(
    'shopify-shared-secret',
    'Shopify shared secret',
    SHOPIFY,
    ['shpss_', 'shpua_', 'shprt_'],
    '[0-9a-fA-F]{32,64}',
  ),
  marked(
    'adyen-key',
    'Adyen API key',
    'https://docs.adyen.com/development-resources/api-credentials/',
    'aqe',
    'AQE[a-z]h[A-Za-z0-9+/=*.~-]{60,300}',
  ),
  token(
    'razorpay-key',
    'Razorpay key',
    'https://razorpay.com/docs/payments/dashboard/account-settings/api-keys/',
    ['rzp_live_', 'rzp_test_'],
    `${ALNUM}{14,24}`,
  ),
  token(
    'plaid-access-token',
    'Plaid access token',
    PLAID,
    ['access-production-', 'access-sandbox-', 'access-development-'],
    UUID,
  ),
  near('plaid-secret', 'Plaid secret', PLAID, 'plaid', `${HEX}{30}`),
  token(
    'flutterwave-key',
    'Flutterwave secret key',
    'https://developer.flutterwave.com/docs/authentication',
    ['FLWSECK-', 'FLWSECK_TEST-', 'FLWSECK_LIVE-'],
    '[0-9a-zA-Z]{12,40}(?:-[0-9a-zA-Z]{1,20}){0,2}',
  ),
  marked(
    'coinbase-key-name',
    'Coinbase API key name',
    COINBASE,
    '/apikeys/',
    `organizations/${UUID}/apiKeys/${UUID}`,
  ),
  near(
    'coinbase-secret',
    'Coinbase API secret',
    COINBASE,
    'coinbase',
    '(?:[A-Za-z0-9+/]{86}==|[A-Za-z0-9_-]{64}|[A-Za-z0-9]{32})',
  ),
  near(
    'mollie-key',
    'Mollie API key',
    'https://docs.mollie.com/reference/authentication',
    'mollie',
    `(?:live|test)_${ALNUM}{30,40}`,
  ),
  near(
    'gocardless-token',
    'GoCardless access token',
    'https://developer.gocardless.com/api-reference/',
    'gocardless',
    `(?:live|sandbox)_${URL64}{40}`,
  ),
  token(
    'paddle-key',
    'Paddle API key',
    'https://developer.paddle.com/api-reference/about/authentication',
    ['pdl_live_apikey_', 'pdl_sdbx_apikey_'],
    `[a-z0-9]{26}_${ALNUM}{22}_${ALNUM}{3}`,
  ),
  token(
    'mercadopago-token',
    'Mercado Pago access token',
    'https://www.mercadopago.com.ar/developers/en/docs/your-integrations/credentials',
    ['APP_USR-'],
    `\\d{12,20}-\\d{6}-${HEX}{32}-\\d{6,12}`,
  ),
  token(
    'polar-token',
    'Polar access token',
    'https://docs.polar.sh/integrate/oat',
    ['polar_oat_', 'polar_pat_', 'polar_whs_'],
    `${ALNUM}{32,64}`,
  ),
  near(
    'binance-secret',
    'Binance API key',
    'https://developers.binance.com/docs/binance-spot-api-docs/rest-api',
    'binance',
    `${ALNUM}{64}`,
  ),
];
