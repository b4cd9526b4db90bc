import type { Rule } from '../rule.js';
import { isSecretValue, isSecretWord } from '../value.js';

const CWE = 'https://cwe.mitre.org/data/definitions/798.html';

const KEYWORDS = ['pass', 'pwd', 'secret', 'token', 'key', 'credential', 'auth'];

/**
 * A name that says that its value is a secret, alone or as the end of a longer one: `DB_PASSWORD`, `clientSecret`,
 * `api-key`. What may follow (`_value`, `1`, `ForProduction`) is bounded.
 */
const NAME =
  '(?:pass(?:word|wd|phrase|code)?|pwd|secrets?|tokens?|credentials?|' +
  '(?:api|access|auth|private|secret|signing|encryption|master|account|storage|shared|session|service|webhook|client|' +
  'admin|root|license|consumer|crypt|cipher|jwt|hmac|app|deploy|subscription|security|publish|sas)' +
  '[ _.-]?(?:key|token|pass|id_secret|cred)s?|auth)';

const AFTER = '(?:[_-]?(?:value|base|prod|dev|live|test|default|key|id|v?\\d{1,2}))?';

const assigned = (id: string, what: string, form: string, accept: NonNullable<Rule['accept']>): Rule => ({
  id,
  class: 'secret',
  what,
  source: CWE,
  keywords: KEYWORDS,
  pattern: new RegExp(`(?<name>${NAME}${AFTER})${form}`, 'gi'),
  accept,
  isLoose: true,
});

/** The last resort: values that only their name gives away. */
export const genericRules = (): readonly Rule[] => [
  assigned(
    'secret-assignment',
    'value of a password, token or key',
    '\\\\?["\'`]?\\]?(?:\\s{0,3}:\\s{0,3}[A-Za-z]{3,12}\\??)?\\s{0,10}(?::=|=>|[:=])\\s{0,10}[bru@]{0,2}\\\\?["\'`](?<secret>[^"\'`\\s\\\\]{8,400})(?=\\\\?["\'`])',
    isSecretValue,
  ),
  assigned(
    'secret-variable',
    'value of a password, token or key',
    '["\']?\\s{0,4}(?:[:=]|=>)\\s{0,4}(?:[|>][-+]?\\s{1,20})?(?<secret>[^\\s"\'`,;&<>()[\\]{}\\\\]{8,400})(?![(\\[{\\w])',
    isSecretWord,
  ),
  assigned(
    'secret-argument',
    'password, token or key given to a function',
    '\\w{0,12}["\'`]?\\s{0,4}[,(]\\s{0,4}["\'`](?<secret>[^"\'`\\s\\\\]{8,400})(?=["\'`])',
    isSecretWord,
  ),
  assigned(
    'secret-option',
    'value of a password or token on a command line',
    '(?:\\s{1,4}(?:is|was)?:?\\s{0,4})["\'`]?(?<secret>[^\\s"\'`,;<>()[\\]{}\\\\]{8,400})(?![(\\[{\\w])',
    isSecretWord,
  ),
  assigned(
    'secret-element',
    'password, token or key as a value beside its name',
    '(?:["\']?\\s{0,2},?\\s{1,40}["\']?value["\']?\\s{0,2}[:=]\\s{0,2}["\']?|["\'],["\']value["\']:["\']|>)(?<secret>[^\\s"\'<>(){}]{8,400})(?=["\'<\\s]|$)',
    isSecretValue,
  ),
];
