import { isPlaceholder, looksRandom } from '../placeholder.js';
import type { Rule } from '../rule.js';
import { isSecretValue } from '../value.js';

const isOwn = (secret: string): boolean => !isPlaceholder(secret);

/** What a header holds; in a program a name stands there. */
const isRandomValue = (secret: string): boolean =>
  /\d/.test(secret) && isSecretValue(secret) && looksRandom(secret);

const readBase64 = (text: string): string => Buffer.from(text, 'base64').toString('utf8');

/** `user:password` in base64, as RFC 7617 and Docker's settings have it. */
function isPair(secret: string): boolean {
  const [, user, password] =
    /^([^:\p{Cc}]{1,100}):([^\p{Cc}\ufffd]{1,1000})$/u.exec(readBase64(secret)) ?? [];
  return user !== undefined && password !== undefined && !isPlaceholder(password) && password.length >= 4;
}

const rule = (
  id: string,
  what: string,
  source: string,
  keywords: readonly string[],
  pattern: RegExp,
  accept: (secret: string, match: RegExpExecArray) => boolean = isOwn,
): Rule => ({ id, class: 'secret', what, source, keywords, pattern, accept, isLoose: true });

/** Where credentials stand by a format's rules, whatever they look like. */
export const placeRules = (): readonly Rule[] => [
  rule(
    'url-credentials',
    'credentials in a URL',
    'https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1',
    ['://'],
    /(?<=[a-z0-9]):\/\/(?<user>[^\s:/?#@"'`<>()[\]{}|\\,]{0,100}):(?<secret>[^\s/?#@"'`<>|\\,]{4,200})(?=@[\w[%.-])/gi,
    (secret, match) => isOwn(secret) && secret !== match.groups?.['user'] && !/^[{$[]|[}\]]$/.test(secret),
  ),
  rule(
    'url-token',
    'token in a URL',
    'https://www.rfc-editor.org/rfc/rfc3986#section-3.2.1',
    ['://'],
    /(?<=[a-z0-9]):\/\/(?<secret>[\w.~%-]{20,255})(?=(?::|:x-oauth-basic)?@[\w[.-])/gi,
    looksRandom,
  ),
  rule(
    'npmrc-auth',
    'npm registry credentials',
    'https://docs.npmjs.com/cli/v10/configuring-npm/npmrc#auth-related-configuration',
    [':_authtoken', ':_auth', ':_password', '_auth=', '_auth ', '_authtoken'],
    /(?<![\w.])_(?:authToken|auth|password)["']?\s{0,4}=\s{0,4}["']?(?<secret>[^\s"'$<{*;]{8,2000})/g,
  ),
  rule(
    'netrc-password',
    'password in .netrc',
    'https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html',
    ['machine'],
    /\b(?:machine\s{1,20}\S{1,255}|default)\s{1,20}login\s{1,20}\S{1,255}\s{1,20}(?:account\s{1,20}\S{1,255}\s{1,20})?password\s{1,20}(?<secret>\S{4,400})/g,
  ),
  rule(
    'pypirc-password',
    'password in .pypirc',
    'https://packaging.python.org/en/latest/specifications/pypirc/',
    ['username'],
    /\[[\w-]{1,60}\]\s{1,8}(?:(?:repository|username)\s{0,4}[:=]\s{0,4}\S{1,200}\s{1,8}){1,2}password\s{0,4}[:=]\s{0,4}(?<secret>\S{4,1000})/g,
  ),
  rule(
    'docker-auth',
    'Docker registry credentials',
    'https://docs.docker.com/reference/cli/docker/login/',
    ['"auth"', '"identitytoken"', '"registrytoken"'],
    /"(?:auth|identitytoken|registrytoken)"\s{0,8}:\s{0,8}"(?<secret>[A-Za-z0-9+/=_.-]{8,4096})"/g,
    (secret) => isPair(secret) || (secret.length >= 40 && looksRandom(secret)),
  ),
  rule(
    'basic-auth',
    'Basic credentials',
    'https://www.rfc-editor.org/rfc/rfc7617',
    ['basic '],
    /\bbasic\s{1,4}(?<secret>[A-Za-z0-9+/_-]{8,1024}={0,2})(?![\w+/=-])/gi,
    isPair,
  ),
  rule(
    'bearer-token',
    'bearer token',
    'https://www.rfc-editor.org/rfc/rfc6750',
    ['bearer'],
    /\bbearer["']?\s{1,4}(?<secret>[\w.~+/-]{16,4096}={0,2})/gi,
    isRandomValue,
  ),
  rule(
    'authorization-header',
    'credentials in an Authorization header',
    'https://www.rfc-editor.org/rfc/rfc9110#field.authorization',
    ['authorization', 'x-api-key', 'x-auth-token', 'private-token', 'api-key', 'x-access-token'],
    /(?:authorization|x-api-key|x-auth-token|private-token|api-key|x-access-token)["']?\s{0,4}[:=,]\s{0,4}["'`]?(?:(?:token|apikey|api-key|key|ssws|digest|genie[kK]ey|bot)[\s=]{1,4})?["']?(?<secret>[\w.~+/-]{16,2048}={0,2})/gi,
    isRandomValue,
  ),
  rule(
    'curl-credentials',
    'credentials on a command line',
    'https://curl.se/docs/manpage.html#-u',
    ['curl ', 'wget '],
    /\bcurl\b[^\r\n]{0,200}?\s(?:-u|--user|--proxy-user)[\s=]{0,2}["']?[^\s:"']{1,100}:(?<secret>[^\s"']{4,200})/g,
  ),
];
