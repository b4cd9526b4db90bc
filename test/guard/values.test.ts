import { describe, expect, it } from 'vitest';
import { scanText } from '../../src/guard/scan.js';
import { secretRules } from '../../src/guard/secret-rules.js';

const SECRET_RULES = secretRules();

/** Each value is written in two parts, so that no scanner of a host takes this file for a leak. */
type Parts = readonly [why: string, first: string, second: string];

const found = (text: string): string[] =>
  scanText(text, SECRET_RULES).map((hit) => text.slice(hit.start, hit.end));

const QUOTED: Record<string, (value: string) => string> = {
  password: (value) => `db_password = "${value}"`,
  token: (value) => `token: '${value}'`,
};

describe('a quoted value after a name that means a secret', () => {
  it.each<Parts>([
    ['three kinds of characters', 'gre3n', 'Tr33s'],
    ['letters and digits', 'q8wz', '4mtk'],
    ['letters, digits and signs', 'k7#q', 'm!z2'],
    ['twenty letters', 'qzJXkvBWmfHG', 'tpDLrnSC'],
    ['hex digits', '3f9a0c7e5b', '1d8246fa90'],
    ['a UUID', '7f3c9a1e-5b2d-4e8f-', 'a6c0-9d1b3e5f7a24'],
    ['a word that spells itself with digits', 's3cr3t', 'P@ss'],
    ['a word of samples and three more letters', 'test#', 'qzk1'],
    ['a slash in base64', 'k9Xw/Pq2', 'Zr7+Lm4T'],
    ['a reference that is cut off', '${qW', '7zK2p'],
    ['small letters, capitals and signs', 'qzJX#', 'vBWm'],
    ['digits with two letters', '48-30q', '#2z'],
    ['hex digits that repeat, under twenty', 'a1b2c3a1b2', 'c3a1b2c3a'],
    ['words of samples with digits between them', 'my4test', '7key'],
    ['words of samples with numbers between them', 'my42test', '77key'],
    ['words of samples with digits and signs', 'my4_test', '7_key#'],
    ['words of samples with signs and digits', 'my_4test', '_7key#'],
    ['no path: a sign in its first name', 'k7!q/conf', '/main/db'],
    ['no path: a sign in its last name', 'conf/main7', '/db!q'],
    ['one slash in base64', 'k9Xw/Pq2', 'Zr7Lm4T'],
  ])('LTM-13 is found: %s', (_, first, second) => {
    for (const write of Object.values(QUOTED)) expect(found(write(first + second))).toEqual([first + second]);
  });

  it.each<Parts>([
    ['no letter', '48-30', '27-91'],
    ['few different characters', 'ababab', '1a'],
    ['hex digits that repeat', 'abab1212abab', '1212abab'],
    ['six hex digits that repeat', 'a1b2c3a1b2', 'c3a1b2c3a1'],
    ['letters that repeat', 'qzJXkvBWqz', 'JXkvBWqzJX'],
    ['capitals and small letters, under twenty', 'qzJXkvBWmf', 'HGtpDLrnS'],
    ['small letters and a sign', 'qz#j', 'xvbw'],
    ['capitals and a sign', 'QZ#J', 'XVBW'],
    ['words of samples, the longest first', 'my#to', 'ken7'],
    ['words of samples between signs', 'my_test', '-key#1'],
    ['words of samples between two signs', 'my__test', '--key#1'],
    ['one kind of characters, under twenty', 'qzjxkvb', 'wmfhgtp'],
    ['the alphabet', 'K7-abc', 'defg-Q'],
    ['the alphabet in capitals', 'k7-ABC', 'DEFG-q'],
    ['digits in order', 'Kq-0123', '456-Zw'],
    ['the keyboard', 'Kz7-qwe', 'rtyu'],
    ['digits backwards', 'Kqw-987', '6543'],
    ['one character six times', 'Kq7-zzz', 'zzz-W'],
    ['says that it is an example', 'Kq7exam', 'pleZw4'],
    ['says whose it is', 'your-Kq', '7Zw4'],
    ['dots', 'Kq7...', 'Zw4'],
    ['stars', 'Kq7***', 'Zw4'],
    ['crossed out', 'Kq7xx', 'xxZw4'],
    ['words of samples', 'MyTest', 'Password1!'],
    ['words of samples and two more letters', 'test-token', '-qz-1'],
    ['a placeholder in brackets', '<db', '_pass2>'],
    ['a variable', '${DB_', 'PASS2}'],
    ['a variable of a shell', '$Db_Pa', 'ss2'],
    ['a template', '{{Kq7', 'Zw4Mv}}'],
    ['a format', '%(Kq7', 'Zw4)s'],
    ['a command', '$(get', 'Kq7)'],
    ['a path', 'conf.d/Main2/', 'db-user7'],
    ['a package', '@acme/auth2', '/key7.main'],
    ['a URL', 'https://acme7.', 'test/Kq'],
    ['a file', 'Server7', '.pem'],
    ['a date', '2026-03-', '01T10:00:00Z'],
    ['a version', '^4.12.', '0-rc1'],
    ['a duration', '3600', '00ms'],
    ['a digest', 'sha256-Kq7', 'Zw4MvPr9'],
    ['an identifier', 'currentUser', 'Session2'],
    ['a constant', 'DB_USER', '_KEY_2'],
    ['words with signs', 'shop.orders', '.v2-created'],
    ['a ticket', 'SHOP-', '4711'],
    ['part of a program', 'a7.Kq?', '.zw()'],
  ])('LTM-13 is no secret: %s', (_, first, second) => {
    for (const write of Object.values(QUOTED)) expect(found(write(first + second))).toEqual([]);
  });

  it('LTM-13 a password has at least six characters, a token eight', () => {
    const six = ['k7Q', 'm!z'].join('');
    expect([found(`password = "${six}"`), found(`token = "${six}"`)]).toEqual([[six], []]);
    expect(found(`password = "${six.slice(1)}"`)).toEqual([]);
    expect(found(`token_prod = "${six}"`)).toEqual([]);
    expect([found(`token = "${six}w"`), found(`token = "${six}w3"`)]).toEqual([[], [`${six}w3`]]);
  });
});

describe('a name beside a value', () => {
  const value = ['Kq7#Zw4M', 'vPr9'].join('');

  it.each([
    ...'password db_pwd clientSecret authToken passphrase credential credentials api_key apiKey access-key private.key encryption_key secret_key'.split(
      ' ',
    ),
    ...['api key', 'signing key', 'master key'],
  ])('LTM-13 means a secret: %s', (name) => {
    expect(found(`${name} = "${value}"`)).toEqual([value]);
  });

  it.each([
    ...'key sort_key primaryKey public_key public_token token_type tokenUrl token_id key_id credentials-id password_hash'.split(
      ' ',
    ),
    ...'secret_digest next_page_token csrf_token xsrf-token cursor_token continuation_token keys creds cred'.split(
      ' ',
    ),
    ...['partition key', 'sync token'],
  ])('LTM-13 means none: %s', (name) => {
    expect(found(`${name} = "${value}"`)).toEqual([]);
  });
});

describe('a value without quotes', () => {
  it.each<Parts>([
    ['signs inside a word', 'Tr0ub4', 'dor#3'],
    ['a sign that password rules ask for', 'Summer', '#2019'],
    ['random, twelve characters', 'k7Qm2z', 'W9tR4b'],
    ['random, ten characters', 'k7Q2z9', 'W4tR'],
    ['zeros between letters', 'a0c0e0g0i0', 'k0m0o0q0s0'],
    ['nines between letters', 'a9c9e9g9i9', 'k9m9o9q9s9'],
    ['capitals between letters', 'kZwZpZrZtZ', 'mZbZdZgZh7'],
    ['the first capital between letters', 'kAwApArAtA', 'mAbAdAgAh7'],
    ['five consonants in a row, and digits', 'homewtkzq', 'room2and7'],
    ['base64 with signs', 'k9Xw/Pq2Zr', '7+Lm4T'],
    ['digits between words', 'home7work2', 'able9door'],
    ['digits between words in capitals', 'HOME7WORK2', 'ABLE9DOOR'],
    ['a quarter of mixed neighbors', 'Home7Kitc', 'hen2Door'],
    ['twelve characters', 'home7k', 'itch2n'],
    ['eleven characters, more mixed', 'hom7k', 'itch2n'],
    ['z between digits', 'z0z1z2z3z4', 'z5z6z7z8z9'],
    ['a between digits', 'a0a1a2a3a4', 'a5a6a7a8g9'],
    ['five consonants in a row, sixteen characters', 'homewtkz', 'qroom271'],
    ['many capitals', 'HOMEwork7', 'KITCHENdoor2'],
    ['many capitals, twenty characters', 'HOMEwork7', 'KITCHENdoo2'],
    ['a dot that no program would have there', 'k7Q.2', 'mzW#'],
    ['a digit beside signs', 'k7q+ho', 'me+work'],
  ])('LTM-13 is found: %s', (_, first, second) => {
    expect(found(`PASSWORD=${first}${second}`)).toEqual([first + second]);
    expect(found(`PASSWORD=${first}${second}.`)).toHaveLength(1);
  });

  it.each<Parts>([
    ['a name with one number', 'oauth2', 'provider'],
    ['a name with capitals', 'getOAuth2', 'UserToken'],
    ['words and a year', 'rotation_of', '_2024_keys'],
    ['a member', 'req.body', '.pass1'],
    ['an expression', 'h7+Zw', '.next+k9'],
    ['an assignment', 'x7=next', '.Zw4='],
    ['a path', 'a7/next', '.Zw4(x'],
    ['words', 'is-required', '-by7-default'],
    ['a name with two numbers', 'Homework7', 'Kitchen2Door'],
    ['a name with a number', 'homework7', 'kitchen'],
    ['a name with two numbers in small letters', 'homework7', 'kitchendoor2'],
    ['a name with capitals and a number', 'HOMEworkKITCH', 'ENdoors27'],
    ['a name with capitals and numbers, under twenty', 'HOMEwork7', 'KITCHEdoo2'],
    ['a name with a dollar sign', 'red_sea$of', '_my_home_7'],
    ['eleven characters, less mixed', 'hom7k', 'itche2'],
    ['nine characters', 'h7k2', 'd9w4q'],
    ['five consonants in a row, fifteen characters', 'homewtkz', 'qroo271'],
    ['five consonants in a row and one digit', 'homewtkzq', 'room7and'],
    ['a name before marks', 'current', 'User2?!'],
    ['words between signs', 'Blue+sea', '+of+homes'],
    ['words and one digit between signs', 'k7+home', '+work+able'],
    ['names between signs', 'homeWork', '+ableDoor'],
    ['words with a sign that password rules ask for', 'blue#sea-of-my', '-wick-pad-hut-jig'],
  ])('LTM-13 is no secret: %s', (_, first, second) => {
    expect(found(`token=${first}${second}`)).toEqual([]);
  });
});

describe('the body of a token', () => {
  const token = (body: string): string => `${['glp', 'at'].join('')}-${body}`;

  it.each<Parts>([
    ['random', 'n5f2w7dhak', 'rjcq9m3rpe'],
    ['four x in a long one', 'n5f2w7dhak', 'rjcxxxxrpe'],
    ['capitals', 'N5fW7dHakR', 'jcQ9mZrPe4'],
    ['six characters that repeat', 'n5f2w7n5f2', 'w7n5f2w7n5'],
  ])('LTM-13 is random: %s', (_, first, second) => {
    expect(found(token(first + second))).toEqual([token(first + second)]);
  });

  it.each<Parts>([
    ['few different characters', 'aabbccaabb', 'ccaabbccaa'],
    ['five characters that repeat', 'n5f2wn5f2w', 'n5f2wn5f2w'],
    ['the alphabet', 'n5fabcdefg', 'hak9m3rpeq'],
    ['one character', 'n5f2w7dhak', 'qqqqqqq3rp'],
    ['words with capitals', 'GitlabDeploy', 'erName12'],
    ['says that it is a sample', 'n5f2w7exam', 'ple9m3rpeq'],
    ['crossed out twice', 'xxxx-xxxx-', 'n5f2w7dhak'],
  ])('LTM-13 is not: %s', (_, first, second) => {
    expect(found(token(first + second))).toEqual([]);
  });

  it('LTM-13 of 32 characters has at least eight different ones', () => {
    const bitbucket = (part: string): string => ['AT', 'BB', part.repeat(32).slice(0, 32)].join('');
    expect(found(bitbucket('n5f2w7dh'))).toHaveLength(1);
    expect(found(bitbucket('n5f2w7'))).toEqual([]);
  });
});

describe('the value of a key that names no owner', () => {
  const key = (value: string): string[] => found(`key = "${value}"`);

  it('LTM-13 is found if it is random and has twenty characters', () => {
    for (const end of ['8v', '8a'])
      for (const start of ['k7', 'a7']) {
        const value = `${start}Qm2zW9tR4bXn5fPq${end}`;
        expect(key(value)).toEqual([value]);
        expect(key(value.slice(1))).toEqual([]);
      }
  });

  it('LTM-13 finds no key without a digit, or in what reads as words', () => {
    expect(key(['kQmzWtRbXnfP', 'qvJdHsLcGyTw'].join(''))).toEqual([]);
    expect(key(['Homework7Kitchen', '2Door#home'].join(''))).toEqual([]);
  });
});
