import { entropyOf } from '../entropy.js';
import { hasSequence } from '../placeholder.js';
import type { Rule } from '../rule.js';

/** Lines of a key in base64; `\n` written out and what a program puts about its lines do not belong to them. */
const BODY = '(?:[^-]|-(?!----)){40,16384}';

/** What armour may have between its header and its body: "Proc-Type: 4,ENCRYPTED". */
const ARMOUR_HEADER = /^[A-Z][A-Za-z-]{2,20}: .*$/gm;

/** A header in prose is followed by words; a key's by a line of base64, whatever quotes and signs stand between. */
function hasKeyBody(block: string): boolean {
  const body = block
    .replace(/^-{4,5}[^-]{1,60}-{4,5}/, '')
    .replace(/\\[nrt]/g, '\n')
    .replace(ARMOUR_HEADER, '');
  const line = /[A-Za-z0-9][A-Za-z0-9+/]{0,200}/.exec(body)?.[0] ?? '';
  return line.length >= 24 && entropyOf(line) >= 3.3 && !/(.)\1{9}/.test(line);
}

/** Keys may repeat letters and count somewhere in their many lines; only the shape is judged. */
const pem = (id: string, what: string, source: string, label: string): Rule => ({
  id,
  class: 'secret',
  what,
  source,
  keywords: ['private key'],
  pattern: new RegExp(`-----BEGIN ${label}-----${BODY}(?:-----END [A-Z0-9 ]{1,40}-----)?`, 'g'),
  accept: hasKeyBody,
});

const RFC7468 = 'https://www.rfc-editor.org/rfc/rfc7468';

const isJwtHeader = (part: string): boolean => {
  try {
    const header: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof header === 'object' && header !== null && 'alg' in header;
  } catch {
    return false;
  }
};

export const keyRules = (): readonly Rule[] => [
  {
    ...pem('google-service-account-key', 'Google service account key', RFC7468, 'PRIVATE KEY'),
    source: 'https://cloud.google.com/iam/docs/keys-create-delete',
    pattern: new RegExp(
      `"private_key"\\s{0,8}:\\s{0,8}"(?<secret>-----BEGIN (?:RSA )?PRIVATE KEY-----${BODY}(?:-----END [A-Z ]{1,40}-----)?)`,
      'g',
    ),
  },
  pem('pem-rsa-key', 'RSA private key', 'https://www.rfc-editor.org/rfc/rfc8017', 'RSA PRIVATE KEY'),
  pem('pem-ec-key', 'EC private key', 'https://www.rfc-editor.org/rfc/rfc5915', 'EC PRIVATE KEY'),
  pem(
    'pem-dsa-key',
    'DSA private key',
    'https://www.openssl.org/docs/man3.0/man1/openssl-dsa.html',
    'DSA PRIVATE KEY',
  ),
  pem(
    'pem-openssh-key',
    'OpenSSH private key',
    'https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.key',
    'OPENSSH PRIVATE KEY',
  ),
  pem('pem-encrypted-key', 'encrypted private key', RFC7468, 'ENCRYPTED PRIVATE KEY'),
  pem(
    'pgp-private-key',
    'PGP private key',
    'https://www.rfc-editor.org/rfc/rfc9580',
    'PGP PRIVATE KEY BLOCK',
  ),
  pem('pem-private-key', 'private key', RFC7468, '(?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY'),
  {
    ...pem('ssh2-private-key', 'SSH2 private key', 'https://www.rfc-editor.org/rfc/rfc4716', ''),
    pattern: new RegExp(`---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----${BODY}`, 'g'),
  },
  {
    id: 'putty-private-key',
    class: 'secret',
    what: 'PuTTY private key',
    source: 'https://the.earth.li/~sgtatham/putty/latest/htmldoc/AppendixC.html',
    keywords: ['putty-user-key-file'],
    pattern:
      /PuTTY-User-Key-File-\d: [\s\S]{20,12000}?Private-Lines: \d{1,3}\s{1,4}(?<secret>(?:[A-Za-z0-9+/=]{16,64}\s{1,4}){1,200})/g,
  },
  {
    id: 'age-secret-key',
    class: 'secret',
    what: 'age secret key',
    source: 'https://age-encryption.org/v1',
    keywords: ['age-secret-key-'],
    pattern: /AGE-SECRET-KEY-(?:PQ-)?1(?<secret>[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{50,120})/g,
    accept: (secret) => !hasSequence(secret) && entropyOf(secret) >= 3,
  },
];

/** After the vendors whose tokens are such. */
export const jwtRules = (): readonly Rule[] => [
  {
    id: 'jwt',
    class: 'secret',
    what: 'JSON web token',
    source: 'https://www.rfc-editor.org/rfc/rfc7519',
    keywords: ['eyj', 'ewog'],
    // Not inside of a longer run of its characters: so that a run is read once.
    pattern:
      /(?<![\w-])(?:eyJ|ewog)[\w-]{10,2000}\.[\w-]{8,8000}\.(?:[\w-]{16,2000}|[\w-]{0,200}\.[\w-]{8,400}\.[\w-]{4,8000}\.[\w-]{16,60})/g,
    accept: (secret) => isJwtHeader(secret.split('.', 1)[0] ?? ''),
  },
];
