import { lazyRule } from './lazy-rule.js';
import type { Rule } from './rule.js';
import { after, before } from './surroundings.js';

// Nobody reads these: what a service signs its messages with.
const NOBODY = /(?:^|[.+_-])(?:no[._-]?reply|do[._-]?not[._-]?reply)(?:$|[.+_-])|^(?:bot|mailer-daemon)$/;
// RFC 2606 and RFC 6761, and `example` under any domain.
const RESERVED = /(?:^|\.)(?:example|test|invalid|localhost|localdomain)$|(?:^|\.)example\.[a-z.]{2,12}$/;
const NO_PERSON = /(?:^|\.)(?:noreply\.github\.com|noreply\.gitlab\.com|noreply\.codeberg\.org)$/;
// Last parts of file and unit names that are no top level domain; of those that are both, only `.md` is taken for a file.
const FILE_ENDING =
  /\.(?:png|jpe?g|gif|svg|webp|avif|ico|bmp|pdf|[cm]?[jt]sx?|jsonc?|json5|ya?ml|toml|lock|css|scss|less|html?|xml|txt|csv|log|map|vue|wasm|java|kt|cpp|hpp|cs|rb|tgz|gz|tar|exe|dll|service|socket|timer|target|mount|slice|scope)$|^[^.]+\.md$/;
// Kotlin's and Swift's labels, and the accounts of version control over ssh.
const LABEL = /^(?:this|super|return|break|continue|git|hg|svn)$/;
const URL_USER = /:\/\/[^\s/@'"<>]{0,80}$/;
const REMOTE_PATH = /^:(?:~|\/|(?:[\w.-]{1,60}\/){2}|[\w.-]{1,60}\.git)/;

function isPersonal(address: string, match: RegExpExecArray): boolean {
  const at = address.lastIndexOf('@');
  const [local, domain] = [address.slice(0, at).toLowerCase(), address.slice(at + 1).toLowerCase()];
  if (NOBODY.test(local) || LABEL.test(local) || local.endsWith('.') || local.includes('..')) return false;
  if (RESERVED.test(domain) || NO_PERSON.test(domain) || FILE_ENDING.test(domain)) return false;
  // `pkg@1.2.3-rc.one` is a version, `a@b.multiply(c)` an expression.
  if (/^v?\d{1,8}\.\d/.test(domain) || /(?:^|\.)-|-\./.test(domain)) return false;
  const next = after(match, 64);
  return !(next.startsWith('(') || REMOTE_PATH.test(next) || URL_USER.test(before(match, 100)));
}

export const emailRules = (): readonly Rule[] => [
  lazyRule(
    {
      id: 'email',
      class: 'email',
      what: 'e-mail address of a person',
      source: 'https://www.rfc-editor.org/rfc/rfc5321#section-4.1.2',
      keywords: ['@'],
      accept: isPersonal,
    },
    () =>
      /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}_][\p{L}\p{N}._%+'-]{0,63}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}(?:xn--[a-z0-9-]{2,40}|\p{L}{2,24})(?![\p{L}\p{N}@]|[-_][\p{L}\p{N}])/gu,
  ),
];
