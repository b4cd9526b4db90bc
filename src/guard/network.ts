import type { Rule } from './rule.js';
import { before, mentions } from './surroundings.js';

const SPECIAL = 'https://www.iana.org/assignments/iana-ipv4-special-registry';

/** Addresses that name no one: IANA's special registry, multicast, reserved, as first and last of each block. */
const NOT_GLOBAL: readonly (readonly [string, string])[] = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '255.255.255.255'],
];

// Public resolvers, the number that everyone counts up when any address will do, and X.500's object identifiers.
const WELL_KNOWN =
  /^(?:8\.8\.8\.8|8\.8\.4\.4|1\.1\.1\.[123]|1\.0\.0\.[123]|9\.9\.9\.(?:9|10|11)|149\.112\.112\.112|208\.67\.22[02]\.22[02]|1\.2\.3\.4|4\.3\.2\.1|2\.5\.(?:4|29)\.\d{1,3})$/;
const VERSION_BEFORE =
  /(?:(?<![a-z])(?:v|ver|version|release|rev|build|oid|section|sect|sec|chapter|clause|spec|upgrade|bump)s?['":= ._-]{0,6}|rfc ?\d{1,5},? |(?:upgrad\w{1,3}|bump\w{0,3}|v8) (?:[\w./@-]{1,30} )?to |§ ?|@[~^]?|[~^]|[<>]= ?|[a-z][/_-]|\w\/v?)$/i;

const isHost = mentions([
  'ip',
  'ipv4',
  'host',
  'addr',
  'address',
  'server',
  'client',
  'remote',
  'peer',
  'ping',
  'from',
]);

const asNumber = (ip: string): number => ip.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);

function isPublicV4(ip: string, match: RegExpExecArray): boolean {
  if (!/^(?:(?:0|[1-9]\d{0,2})(?:\.|$)){4}$/.test(ip) || ip.split('.').some((octet) => Number(octet) > 255))
    return false;
  // `4.0.0.0` and `12.5.0.0` are versions or networks, no host.
  if (WELL_KNOWN.test(ip) || ip.endsWith('.0.0') || VERSION_BEFORE.test(before(match, 48))) return false;
  // Sections and versions count low; a machine's address hardly ever does in all four places.
  if (/^(?:[12]?\d\.?){4}$/.test(ip) && !isHost(match)) return false;
  const number = asNumber(ip);
  return !NOT_GLOBAL.some(([first, last]) => number >= asNumber(first) && number <= asNumber(last));
}

/** The eight groups of an IPv6 address; null where it is none. */
function ipv6Groups(text: string): number[] | null {
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return null;
  const groups = [...head, ...Array(missing).fill('0'), ...tail];
  return groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))
    ? groups.map((g) => Number.parseInt(g, 16))
    : null;
}

const RESOLVERS_V6 = [
  '2001:4860:4860::8888',
  '2001:4860:4860::8844',
  '2606:4700:4700::1111',
  '2606:4700:4700::1001',
  '2620:fe::fe',
  '2620:fe::9',
];

function isPublicV6(text: string): boolean {
  const [first = 0, second = 0, ...rest] = ipv6Groups(text) ?? [];
  // 2001:db8::/32 and 3fff::/20 are for documents (RFC 3849, RFC 9637); the rest of 2000::/3 is the public net.
  if (first >> 13 !== 1 || (first === 0x2001 && second === 0xdb8) || (first === 0x3fff && second < 0x1000))
    return false;
  // Benchmarks and overlay identifiers (RFC 5180, RFC 7343).
  if (first === 0x2001 && (second === 2 || (second >= 0x10 && second < 0x30))) return false;
  return !RESOLVERS_V6.includes(text.toLowerCase()) && (second !== 0 || rest.some((group) => group !== 0));
}

export const networkRules = (): readonly Rule[] => [
  {
    id: 'ip-v4',
    class: 'ip',
    what: 'public IPv4 address',
    source: SPECIAL,
    keywords: [],
    requires: /\d\.\d{1,3}\.\d/,
    pattern: /(?<!(?<!\\)\w|[$§.+]|\d-)\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\w]|\.[\w]|[-+]\w)/g,
    accept: isPublicV4,
  },
  {
    id: 'ip-v6',
    class: 'ip',
    what: 'public IPv6 address',
    source: 'https://www.iana.org/assignments/ipv6-address-space',
    keywords: [],
    requires: /[23][0-9A-Fa-f]{3}:[0-9A-Fa-f]{0,4}:/,
    pattern:
      /(?<!(?<!\\)\w|[.]|::|(?<![A-Za-z])[0-9A-Fa-f]{1,4}:)[23][0-9A-Fa-f]{3}:(?:[0-9A-Fa-f]{0,4}:){1,7}[0-9A-Fa-f]{0,4}(?![\w:])/g,
    accept: isPublicV6,
  },
];
