import { describe, expect, it } from 'vitest';
import { guardRules } from '../../src/guard/document.js';
import { scanText } from '../../src/guard/scan.js';
import { fill, run, seeded } from '../support/secrets.js';

const RULES = guardRules();
const found = (text: string): string[] =>
  scanText(text, RULES)
    .filter((hit) => hit.class === 'secret')
    .map((hit) => text.slice(hit.start, hit.end));

/** Passwords as people choose them, put together here. */
const PASSWORDS = [
  ['Tr0ub4', 'dor&3'],
  ['Berlin#', '1989'],
  ['P@ssw0', 'rd!42'],
  ['T8kq', '!xP2'],
  ['gre3n', 'Tr33s'],
].map((parts) => parts.join(''));

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: shells and templates write so.
const FORMS: Record<string, readonly string[]> = {
  'a declared type': [
    'password: str = "{p}"',
    'password: Optional[str] = "{p}"',
    'var password string = "{p}"',
    'let password: &\'static str = "{p}";',
    'const char password[] = "{p}";',
  ],
  'another operator': [
    ...['$password .= "{p}";', 'PASSWORD ?= "{p}"', 'PASSWORD ::= "{p}"', 'PASSWORD := "{p}"'],
    ...['if (password == "{p}") {', 'if password != "{p}":', 'if (password === "{p}") {'],
    ...['password => "{p}"'],
  ],
  XML: ['<password>{p}</password>', '<password>\n    {p}\n</password>'],
  'a command line': [
    ...['mysql -u root -p{p} shop', 'sshpass -p {p} ssh me@db', "sshpass -p '{p}' ssh me@db"],
    ...['curl -u admin:{p} https://host/', 'curl --user admin:{p} https://host/'],
  ],
  'a table': ['| user | password |\n| --- | --- |\n| password | {p} |', '| **Password** | `{p}` |'],
  'other languages': ['Passwort: {p}', 'contraseña: {p}', 'mot de passe : {p}', '密码：{p}', 'senha = {p}'],
  'a pasted diff': ['+password = "{p}"', '-password = "{p}"', '+  password: "{p}"'],
  'a URL': [
    'redis://:{p}@cache.internal:6379/0',
    'amqp://shop:{p}@queue.internal:5672/',
    'jdbc:postgresql://shop:{p}@db.internal/shop',
    'jdbc:mysql://db.internal/shop?user=shop&password={p}',
  ],
};

describe.each(Object.entries(FORMS))('a password in %s', (_name, forms) => {
  it.each(forms.map((form) => [form]))('LTM-13 is found: %s', (form) => {
    // Only what no program calls anything is found without quotes.
    const isBare = !/["'`@|>]\{p\}|-p\{p\}|-p \{p\}|:\{p\}/.test(form);
    for (const password of PASSWORDS.filter((one) => !isBare || /[#@!]/.test(one))) {
      // The characters that a URL encodes.
      if (/:\/\//.test(form) && /[#@&]/.test(password)) continue;
      expect(found(form.replace('{p}', () => password)), form).not.toEqual([]);
    }
  });
});

describe('a reference', () => {
  it.each([
    ...['password = "${DB_PASSWORD_1}"', 'password = "{{vault_password_1}}"'],
    ...['password = "$DB_PASSWORD1"', 'token=pass1+salt2.slice(x'],
    ...['const token = user1+salt2.slice(0,4)', 'secret=seed9*hash2(data3)'],
  ])('LTM-13 is no secret: %s', (text) => expect(found(text)).toEqual([]));

  it.each([
    ['pa${ss', 'W0rd9x'],
    ['k{{9Tr', '3eX1q'],
    ['$ecr3t', '!pA55'],
  ])('LTM-13 that is not well formed is one: %s%s', (...parts) =>
    expect(found(`password = "${parts.join('')}"`)).toEqual([parts.join('')]),
  );
});
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: as above.

describe('a value with signs', () => {
  it.each([
    ['aB3+dE5fG7', 'hI9jK1l='],
    ['Wint3r+Sn0', 'w1.x7Q'],
  ])('LTM-13 is no expression without a call: %s%s', (...parts) =>
    expect(found(`token=${parts.join('')}`)).toEqual([parts.join('')]),
  );
});

describe('a key without an owner', () => {
  const random = seeded(4);

  it('LTM-13 is found if its value is long and random', () => {
    const value = run(random, 'alnum', 40);
    expect(found(`Using Key=${value}`)).toEqual([value]);
  });

  it.each([
    ...['key: {hex:40}', 'key = "{uuid}"', 'key: {hex:64}', 'key=primaryUserId2'],
    ...['"key": "shop.orders.v2.created"'],
  ])('LTM-13 is none if that could name a record: %s', (template) =>
    expect(found(fill(template, random))).toEqual([]),
  );
});
