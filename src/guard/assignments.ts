import { lazyRule, type Rule } from './rule.js';
import { isOwned, isRandomKey, isSecretValue, isSecretWord } from './value.js';

type Accept = NonNullable<Rule['accept']>;

/** Words for a password in the languages of many users. All other names are English. */
const FOREIGN = [
  ...[
    'kennwort',
    'contraseña',
    'contrasena',
    'mot de passe',
    'senha',
    'wachtwoord',
    'hasło',
    'lösenord',
    'пароль',
  ],
  ...['密码', '密碼', '口令', 'パスワード', '비밀번호'],
];
const KEYWORDS = ['pass', 'pwd', 'secret', 'token', 'key', 'cred', 'auth'];

/** A name that says that its value is a secret, or the end of a longer one: `DB_PASSWORD`, `clientSecret`, `api-key`. */
const NAME = '(?:pass(?:word|wort|wd|phrase|code)?|pwd|secrets?|tokens?|cred(?:ential)?s?|auth|keys?)';

/** Suffixes of a name: `_value`, `1`, `_prod`. */
const AFTER = '(?:[_-]?(?:value|base|prod|dev|live|test|default|key|id|v?\\d{1,2}))?';

/** The name with its quotes and brackets, and the type that a declaration gives it: `password: str`, `token string`, `key[]`. */
const TYPE = '[A-Za-z_][\\w.<>[\\]|?]{0,30}';
const DECLARED = `(?:\\\\?["'\`]?(?:\\]|\\[\\])?(?:\\s{0,3}:\\s{0,3}&?(?:'static )?${TYPE})?|[ \\t]{1,4}${TYPE})`;

/** `=`, `:`, `=>` and their kin: `:=`, `::=`, `.=`, `?=`, `+=`, `==`, `!=`. */
const OPERATOR = '(?::{1,3}=|[.?+!|]{0,2}={1,3}|=>|:)';

const CWE = 'https://cwe.mitre.org/data/definitions/798.html';

const assigned = (id: string, what: string, form: string, accept: Accept): Rule =>
  lazyRule(
    {
      id,
      class: 'secret',
      what,
      source: CWE,
      keywords: KEYWORDS,
      // A key to nothing in particular is often the key of a record.
      accept: (secret, match) => accept(secret, match) && (isOwned(match) || isRandomKey(secret)),
      isLoose: true,
    },
    () => new RegExp(`(?<name>${NAME}${AFTER})${form}`, 'iy'),
  );

/** The last resort: values that only their name gives away. */
export const assignmentRules = (): readonly Rule[] => [
  assigned(
    'secret-assignment',
    'value of a password, token or key',
    `${DECLARED}\\s{0,10}(?:${OPERATOR}|-(?=\\s))\\s{0,10}[bruf@]{0,2}\\\\?["'\`](?<secret>[^"'\`\\s\\\\]{6,400})(?=\\\\?["'\`])`,
    isSecretValue,
  ),
  assigned(
    'secret-variable',
    'value of a password, token or key',
    `["']?\\]?\\s{0,4}${OPERATOR}\\s{0,4}(?:[|>][-+]?\\s{1,20})?(?<secret>[^\\s"'\`,;&<>()[\\]{}\\\\]{6,400})(?![(\\[{\\w])`,
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
    // A whole word or a whole option, and on one line: `js-tokens "^4.0.0"` in a lock file is neither.
    '(?<=(?:^|[\\s"\'`(|])(?:--?(?:[A-Za-z]{1,20}[-_]){0,3}|(?:[A-Za-z]{1,20}[_ ]){0,3})\\k<name>)[ \\t]{1,4}(?:(?:is|was):?[ \\t]{1,4}|:[ \\t]{0,4})?["\'`]?(?<secret>[^\\s"\'`,;<>()[\\]{}\\\\]{8,400})(?![(\\[{\\w])',
    (secret, match) => !/^[0-9a-f]{40}$/.test(secret) && isSecretWord(secret, match),
  ),
  assigned(
    'secret-element',
    'password, token or key as a value beside its name',
    '(?:["\']?\\s{0,2},?\\s{1,40}["\']?value["\']?\\s{0,2}[:=]\\s{0,2}["\']?|["\'],["\']value["\']:["\']|>(?:</key>\\s{0,40}<string>)?\\s{0,40}(?:\\{(?:\\w{1,40} ){0,3})?)(?<secret>[^\\s"\'<>(){}]{6,400})(?=["\'<\\s}]|$)',
    isSecretValue,
  ),
  assigned(
    'secret-cell',
    'password, token or key in a table',
    '(?<=\\|[ \\t]{0,4}[*`]{0,2}(?:[A-Za-z]{1,20}[_ -]){0,3}\\k<name>)[*`]{0,2}[ \\t]{0,40}\\|[ \\t]{0,40}[*`]{0,2}(?<secret>[^\\s|*`]{6,200})[*`]{0,2}[ \\t]{0,40}\\|',
    isSecretWord,
  ),
  // By itself: with flag `i` letters beyond ASCII make every pattern slow to compile.
  lazyRule(
    {
      id: 'secret-foreign-name',
      class: 'secret',
      what: 'value of a password',
      source: CWE,
      keywords: FOREIGN,
      accept: (secret) => secret.length >= 6 && isSecretWord(secret),
      isLoose: true,
    },
    () =>
      new RegExp(
        `(?:${FOREIGN.join('|')})["'\`]?\\s{0,4}${OPERATOR}\\s{0,4}["'\`]?(?<secret>[^\\s"'\`,;&<>()[\\]{}\\\\]{6,400})(?![(\\[{\\w])`,
        'iy',
      ),
  ),
];
