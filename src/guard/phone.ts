import { NINE_DIGITS } from './lazy-rule.js';
import type { Rule } from './rule.js';
import { after, bare, before } from './surroundings.js';

/** Country calling codes of ITU-T E.164; a region's single digits and ranges in one go. */
const COUNTRY =
  /^(?:1|7|2(?:0|7|1[1-368]|[2346]\d|5[0-8]|9[0179])|3(?:[0-469]|5\d|7[0-8]|8[0-35-79])|4(?:[013-9]|2[013])|5(?:[1-8]|0\d|9\d)|6(?:[0-6]|7[02-9]|8[0-35-9]|9[0-2])|8(?:[1246]|5[02356]|80|86)|9(?:[0-58]|6[0-8]|7[0-79]|9[2-68]))/;

// What regulators keep free for films and examples: NANP 555-01XX and the area 555, Ofcom's drama ranges.
const FICTIONAL =
  /^1?\d{3}55501\d\d$|^1?555\d{7}$|^(?:44|0)(?:7700900|2079460|1632960|1134960|1144960|1154960|1164960|1174960|1184960|1214960|1314960|1414960|1514960|1614960)\d{3}/;
const NANP = /^1?[2-9](?!11)\d{2}[2-9](?!11)\d{6}$/;
/** What stands between two groups; a lone minus or a slash between spaces is arithmetic. */
const JOINT = /^(?:[ .\-/\u00a0\u2009\u202f\u2010-\u2013]|\)|\(| \(|\) |\)-|-\(| - )$/;

const AMERICAN_GROUPS = /^\+1\D{0,2}\d{3}\D{0,2}\d{3}\D?\d{4}/;

const grouping = (text: string): string[] => text.split(/\d+/).filter((joint) => joint !== '');

function isInternational(text: string): boolean {
  const digits = bare(text.slice(1));
  const code = COUNTRY.exec(digits)?.[0];
  if (!code || FICTIONAL.test(digits) || /^(\d)\1+$/.test(digits)) return false;
  if (code === '1') return NANP.test(digits.slice(0, 11)) && AMERICAN_GROUPS.test(text);
  return digits.length - code.length >= 7 && grouping(text.slice(1)).every((joint) => JOINT.test(joint));
}

const isAmerican = (text: string): boolean => {
  const digits = bare(text);
  return NANP.test(digits) && !FICTIONAL.test(digits);
};

const PHONE_WORDS =
  'tel|tél|phone|telephone|téléphone|telefon|telefono|teléfono|telefone|telefoon|mobile|mobil|móvil|cell|cellphone|celular|handy|fax|whatsapp|sms|call|dial|hotline|portable|gsm|numéro|电话|手机|電話|携帯|전화';
const CALLED = new RegExp(
  `(?<!(?<!\\\\)[a-z])(?:${PHONE_WORDS})(?:[ _-]?(?:no|nr|num|number|nummer))?(?![a-z])[^\\d\\n]{0,20}$`,
  'i',
);
// Words of programs as well: a bare number behind one is an address or a count.
const CALLED_LOOSELY = /\b(?:call|cell|dial|handy|portable)\W{0,20}$/i;
const NO_PHONE =
  /^\d{4}[-./]\d\d?[-./]\d\d?|^\d\d?[-./]\d\d?[-./]\d{4}|^\d{1,3}(?:\.\d{1,3}){3}$|^\d{1,3}(?:[ .]\d{3}){2,3}$|^\d{1,9}\.\d{1,9}$|^1[5-9]\d{8}$|^1234567890?$|^(?:19|20)\d{6}$/;

// Named a phone number: it begins with the trunk zero, or is grouped, or is as long as a mobile number.
function isNamed(text: string, match: RegExpExecArray): boolean {
  const digits = bare(text);
  if (NO_PHONE.test(text) || FICTIONAL.test(digits) || /^(\d)\1+$/.test(digits)) return false;
  if (digits.length < 7 || digits.length > 13 || !CALLED.test(before(match, 44))) return false;
  if (digits.startsWith('0') || grouping(text).length > 0) return true;
  return digits.length >= 9 && !CALLED_LOOSELY.test(before(match, 24));
}

const SOURCE = 'https://www.itu.int/rec/T-REC-E.164';

export const phoneRules = (): readonly Rule[] => [
  {
    id: 'phone-international',
    class: 'phone',
    what: 'phone number',
    source: SOURCE,
    keywords: ['+'],
    pattern:
      /(?<!(?<!\\)[A-Za-z0-9]|\w_|[+\-/)]|(?<![A-Za-z])\.)\+[1-9](?:[ ().\-/\u00a0\u2009\u202f\u2010-\u2013]{0,3}\d){7,14}(?![\w]|\.\d)/g,
    accept: isInternational,
  },
  {
    id: 'phone-north-american',
    class: 'phone',
    what: 'phone number',
    source: 'https://www.nanpa.com/numbering',
    keywords: [],
    requires: NINE_DIGITS,
    pattern:
      /(?<!(?<!\\)\w|[$+]|[\w][-./]|\d )(?:1[ .-])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}([.-]))[2-9]\d{2}(?:\1|[-.])\d{4}(?![\w]|[-.]\d)/g,
    accept: isAmerican,
  },
  {
    id: 'phone-named',
    class: 'phone',
    what: 'phone number',
    source: SOURCE,
    keywords: PHONE_WORDS.split('|'),
    pattern:
      /(?<!(?<!\\)\w|[$+]|[\w][./]|\d[ -]|[A-Z]-)(?:\(\d{1,5}\)|\d)(?:[ ().\-/]{0,3}\d){6,12}(?![\w]|\.\d|[-/]\w)/g,
    accept: (text, match) => isNamed(text, match) && !after(match, 3).startsWith('ms'),
  },
];
