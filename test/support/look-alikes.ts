import { fill, type Random } from './secrets.js';

/** What looks like a secret and is none; braces are filled at random. */
// biome-ignore-start lint/suspicious/noTemplateCurlyInString: shells and templates write so.
export const LOOK_ALIKES: Record<string, readonly string[]> = {
  'git ids': [
    ...['commit {hex:40}', 'index {hex:7}..{hex:7} 100644', 'Fixed in {hex:40} and {hex:12}.'],
    ...['tree {hex:64}', '{hex:40}'],
  ],
  UUIDs: ['{uuid}', 'id: {uuid}', '"sessionId": "{uuid}"', 'urn:uuid:{uuid}', 'GET /users/{uuid}/keys'],
  'lock files': [
    ...['"integrity": "sha512-{std:86}=="', 'resolution: {integrity: sha512-{std:86}==}'],
    ...['checksum = "{hex:64}"', 'github.com/a/b v1.2.3 h1:{std:43}='],
    ...['github.com/a/b v1.2.3/go.mod h1:{std:43}='],
    'cloudflare "^1.2.3":\n  version "1.2.3"\n  resolved "https://registry.yarnpkg.com/cloudflare/-/cloudflare-1.2.3.tgz#{hex:40}"\n  integrity sha1-{std:27}=',
    'sha256:{hex:64}',
    'image: nginx@sha256:{hex:64}',
  ],
  'words beside values': [
    'js-tokens "^4.0.0"',
    '  js-tokens "^3.0.0 || ^4.0.0"\n  loose-envify@^1.4.0:',
    'github.com/gopasspw/gopass v1.15.{digits:2} h1:{std:43}=',
    'next page token: {alnum:24}',
    'nextPageToken: "{alnum:24}"',
    'credentialsId: "{uuid}"',
    "withCredentials([string(credentialsId: '{uuid}', variable: 'X')])",
    'hf_AutoModelForSequenceClassificationTest',
    'Make `ptr_cast_add_auto_to_object` a hard error',
    'from transformers import hf_BertModelForTokenClassification',
    'the token fix is octo/shop#1234',
    'token octo-org/shop.web#77',
    'The GitHub token was removed in {hex:40}.',
    'the token {hex:40}',
  ],
  samples: [
    'AKIA{base32:9}EXAMPLE',
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
  ],
  images: [
    '<img src="data:image/png;base64,iVBORw0KGgo{std:400}">',
    'url(data:font/woff2;base64,d09GMg{std:600}==)',
  ],
  'times and numbers': [
    ...['1700000000', 'at 1700000000123', '2024-05-06T07:08:09.123Z'],
    ...['took {digits:3}.{digits:9} s', 'v1.22.333-rc.4+build.5'],
  ],
  paths: [
    ...['/home/me/src/a/token/Secret1/key2.ts', 'src/auth/token-store.test.ts:42'],
    ...['key: ./certs/server.key', 'C:\\Users\\me\\secret1\\file.txt'],
    ...['password_file = /run/secrets/db_password_1'],
  ],
  'types and calls': [
    'password: string',
    'token = getToken()',
    'const token = await client.getAccessToken2();',
    ...['const apiKey = process.env.API_KEY_V2;', 'api_key = os.environ["API_KEY"]'],
    ...['token: z.string().min(8)', 'password: req.body.password1'],
    ...['secret: this.config.secretKey2,', 'if (token === oauth2TokenOfUser) return;'],
    ...['accessToken: accessTokenFromOAuth2Provider,'],
    'private readonly tokenCache = new Map<string, Token>();',
    'export function isSecretValue(value: string): boolean',
  ],
  references: [
    ...['${{ secrets.GITHUB_TOKEN }}', 'token: ${{ secrets.NPM_TOKEN_2 }}'],
    ...['PASSWORD=${DB_PASSWORD_1}', 'password: "{{ vault_password_1 }}"'],
    ...['password=$DB_PASS1WORD', 'PASSWORD=$(pass show db1)', 'password: !vault |'],
    ...['postgres://user:${DB_PASSWORD}@host/db', 'postgres://$USER1:$PASS1@host/db'],
    ...['Authorization: Bearer ${token1234567890abc}', 'Authorization: Bearer <token>'],
    ...['curl -u user:$TOKEN1 https://a/'],
  ],
  placeholders: [
    'API_KEY=your-api-key-here',
    'API_KEY=YOUR_API_KEY_1',
    'sk-...',
    'sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    'npm_000000000000000000000000000000000000',
    'AKIAIOSFODNN7EXAMPLE',
    'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    ...['password: "changeme123"', 'password = "password123"', 'password: "my-secret-password"'],
    ...['PASSWORD=********', 'https://user:pass@host/', 'https://user:password@example.com/'],
    ...['https://username:<password>@host/', 'mysql://root:***@db/', 'token: "<your-token-1>"'],
    ...['xoxb-your-token-here', 'Bearer YOUR_ACCESS_TOKEN_1', 'secret: test-secret-1'],
    ...['sk_test_xxxxxxxxxxxxxxxxxxxxxxxx', 'glpat-XXXXXXXXXXXXXXXXXXXX'],
  ],
  prose: [
    'A "-----BEGIN PRIVATE KEY-----" header alone does not count.',
    'Then it prints -----BEGIN RSA PRIVATE KEY----- and, further down in src/adapters/certificates/reader.ts, the rest.',
    'The token is stored in the keychain, the password is asked for.',
    'Rotate the Datadog key; see https://docs.datadoghq.com/account_management/api-app-keys/ for how.',
    'JWTs begin with eyJ and have three parts: header.payload.signature.',
    'The password is required and must have 8 characters.',
    'fix(auth): refresh token before it expires (#1234)',
    'Merge pull request #42 from org/secret-rotation-2024',
    'Ask Okta, GitLab or GitHub for a token; Twilio and Stripe have test keys.',
  ],
  code: [
    '.btn-primary{color:#1a2b3c;background:url(/a/b1.png)}.key-1{margin:0 1px}',
    '!function(e,t){var n=e.key1,r=t.token;for(var o=0;o<n.length;o++)r[o]=n[o]^255}(a1,b2);',
    'const KEYS = ["ArrowUp", "ArrowDown1", "PageUp", "F12"];',
    "event.key === 'Backspace' || event.key === 'Delete'",
    'for (const [key, value] of Object.entries(map2)) total += value;',
    'const id = "MDQ6VXNlcjU4MzIzMQ==";',
    '<input type="password" name="password1" autocomplete="current-password" />',
    '"publicKeyToken": "{hex:16}"',
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{std:43} me@host',
    '-----BEGIN CERTIFICATE-----\nMIID{std:60}\n{std:64}\n-----END CERTIFICATE-----',
    '-----BEGIN PUBLIC KEY-----\nMIIB{std:60}\n{std:64}\n-----END PUBLIC KEY-----',
    'token_type: Bearer',
    'max_tokens: 4096',
    'keyboard: { primaryKey: "user_id2" }',
  ],
};
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: as above.

/** One of each, as it stands in a text of people or of programs. */
export const lookAlikes = (random: Random): string[] =>
  Object.values(LOOK_ALIKES)
    .flat()
    .flatMap((template) => {
      const text = fill(template, random);
      return [text, `It said: ${text}\nand went on.`, JSON.stringify({ note: text })];
    });
