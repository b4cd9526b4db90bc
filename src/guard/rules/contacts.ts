import { NUMBER } from '../numbers.js';
import type { Rule } from '../rule.js';

/** Senders of automatic messages, which nobody reads. */
export const NOBODY =
  /(?:^|[.+_-])(?:no[._-]?reply|do[._-]?not[._-]?reply)(?:$|[.+_-])|^(?:bot|mailer-daemon)$/;
/** RFC 2606 and RFC 6761, and `example` under any domain. */
export const RESERVED =
  /(?:^|\.)(?:example|test|invalid|localhost|localdomain)$|(?:^|\.)example\.[a-z.]{2,12}$/;
export const NO_PERSON = /(?:^|\.)(?:noreply\.github\.com|noreply\.gitlab\.com|noreply\.codeberg\.org)$/;
/** Endings of file and unit names that are not top-level domains, and `.md`. */
export const FILE_ENDING =
  /\.(?:png|jpe?g|gif|svg|webp|avif|ico|bmp|pdf|[cm]?[jt]sx?|jsonc?|json5|ya?ml|toml|lock|css|scss|less|html?|xml|txt|csv|log|map|vue|wasm|java|kt|cpp|hpp|cs|rb|tgz|gz|tar|exe|dll|service|socket|timer|target|mount|slice|scope)$|^[^.]+\.md$/;
/** Labels of Kotlin and Swift, and the accounts of version control over SSH. */
export const LABEL = /^(?:this|super|return|break|continue|git|hg|svn)$/;

/** Country calling codes of ITU-T E.164, by region. */
export const COUNTRY =
  /^(?:1|7|2(?:0|7|1[1-368]|[2346]\d|5[0-8]|9[0179])|3(?:[0-469]|5\d|7[0-8]|8[0-35-79])|4(?:[013-9]|2[013])|5(?:[1-8]|0\d|9\d)|6(?:[0-6]|7[02-9]|8[0-35-9]|9[0-2])|8(?:[1246]|5[02356]|80|86)|9(?:[0-58]|6[0-8]|7[0-79]|9[2-68]))/;

/** Reserved for films and examples: NANP 555-01XX and area 555, Ofcom's drama ranges. */
export const FICTIONAL =
  /^1?\d{3}55501\d\d$|^1?555\d{7}$|^(?:44|0)(?:7700900|2079460|1632960|1134960|1144960|1154960|1164960|1174960|1184960|1214960|1314960|1414960|1514960|1614960)\d{3}/;

export const PHONE_WORDS =
  'tel|tél|phone|telephone|téléphone|telefon|telefono|teléfono|telefone|telefoon|mobile|mobil|móvil|cell|cellphone|celular|handy|fax|whatsapp|sms|call|dial|hotline|portable|gsm|numéro|电话|手机|電話|携帯|전화';

/** Public resolvers, 1.2.3.4 and its like, and object identifiers of X.500. */
export const WELL_KNOWN =
  /^(?:8\.8\.8\.8|8\.8\.4\.4|1\.1\.1\.[123]|1\.0\.0\.[123]|9\.9\.9\.(?:9|10|11)|149\.112\.112\.112|208\.67\.22[02]\.22[02]|1\.2\.3\.4|4\.3\.2\.1|2\.5\.(?:4|29)\.\d{1,3})$/;
export const VERSION_BEFORE =
  /(?:(?<![a-z])(?:v|ver|version|release|rev|build|oid|section|sect|sec|chapter|clause|spec|upgrade|bump)s?['":= ._-]{0,6}|rfc ?\d{1,5},? |(?<![a-z])(?:v8|node|chrom\w{2,4}|electron|firefox|safari|edge)[ :=/]{1,3}|(?:upgrad\w{1,3}|bump\w{0,3}|v8) (?:[\w./@-]{1,30} )?to |§ ?|@[~^]?|[~^]|[<>]= ?|[a-z][/_-]|\w\/v?)$/i;

const E164 = 'https://www.itu.int/rec/T-REC-E.164';

const SPECIAL = 'https://www.iana.org/assignments/iana-ipv4-special-registry';

/** E-mail addresses, phone numbers and IP addresses. personal.ts has the further checks. */
export const CONTACTS: readonly Rule[] = [
  {
    id: 'email',
    class: 'email',
    what: 'e-mail address of a person',
    source: 'https://www.rfc-editor.org/rfc/rfc5321#section-4.1.2',
    keywords: [],
    anchor: /@/g,
    reach: [66, 400],
    pattern:
      /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}_][\p{L}\p{N}._%+'-]{0,63}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}(?:xn--[a-z0-9-]{2,40}|\p{L}{2,24})(?![\p{L}\p{N}@]|[-_][\p{L}\p{N}])/gu,
  },
  {
    id: 'phone-international',
    class: 'phone',
    what: 'phone number',
    source: E164,
    keywords: [],
    anchor: /\+/g,
    pattern:
      /(?<!(?<!\\)[A-Za-z0-9]|\w_|[+\-/)]|(?<![A-Za-z])\.)\+[1-9](?:[ ().\-/\u00a0\u2009\u202f\u2010-\u2013]{0,3}\d){7,14}(?![\w]|\.\d)/y,
  },
  {
    id: 'phone-north-american',
    class: 'phone',
    what: 'phone number',
    source: 'https://www.nanpa.com/numbering',
    keywords: [],
    anchor: NUMBER,
    reach: [4, 80],
    pattern:
      /(?<!(?<!\\)\w|[$+]|[\w][-./]|\d )(?:1[ .-])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}([.-]))[2-9]\d{2}(?:\1|[-.])\d{4}(?![\w]|[-.]\d)/g,
  },
  {
    id: 'phone-named',
    class: 'phone',
    what: 'phone number',
    source: E164,
    keywords: PHONE_WORDS.split('|'),
    reach: [0, 140],
    pattern:
      /(?<!(?<!\\)\w|[$+]|[\w][./]|\d[ -]|[A-Z]-)(?:\(\d{1,5}\)|\d)(?:[ ().\-/]{0,3}\d){6,12}(?![\w]|\.\d|[-/]\w)/g,
  },
  {
    id: 'ip-v4',
    class: 'ip',
    what: 'public IPv4 address',
    source: SPECIAL,
    keywords: [],
    anchor: /\d{1,3}\.\d{1,3}\.\d{1,3}\.\d/g,
    reach: [2, 80],
    pattern: /(?<!(?<!\\)\w|[$§.+]|\d-)\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\w]|\.[\w]|[-+]\w)/g,
  },
  {
    id: 'ip-v6',
    class: 'ip',
    what: 'public IPv6 address',
    source: 'https://www.iana.org/assignments/ipv6-address-space',
    keywords: [],
    anchor: /[23][0-9A-Fa-f]{3}:[0-9A-Fa-f]{0,4}:/g,
    pattern:
      /(?<!(?<!\\)\w|[.]|::|(?<![A-Za-z])[0-9A-Fa-f]{1,4}:)[23][0-9A-Fa-f]{3}:(?:[0-9A-Fa-f]{0,4}:){1,7}[0-9A-Fa-f]{0,4}(?![\w:])/y,
  },
];
