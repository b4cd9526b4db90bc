import { createHmac } from 'node:crypto';
import { readOwners } from '../adapters/owners.js';
import { ForgeError } from '../domain/error.js';
import { type Found, scanBytes, scanFields } from '../domain/guard/document.js';
import type { Field } from '../domain/guard/fields.js';
import { CRITICAL, isCritical, placeholderOf } from '../domain/guard/policy.js';
import type { GuardClass, Hit, Rule } from '../domain/guard/rule.js';
import { scanText } from '../domain/guard/scan.js';
import { guardRules } from '../domain/guard/table.js';
import { readSalt } from '../store/salt.js';
import { type Context, readConfig } from './context.js';

/** What the guard found: the place, never the value. */
export interface GuardFinding {
  rule: string;
  class: GuardClass;
  what: string;
  file: string;
  line: number;
  field: string;
  /** The same value has the same one in this repository, and says nothing of it elsewhere. */
  fingerprint: string;
}

type Env = Record<string, string | undefined>;

/** The table, without copyright lines of the person's own (`~/.config/forge/owners`). */
export const rulesOf = (env: Env): readonly Rule[] => guardRules(readOwners(env));

/** LTM-13: from here on every write into `.forge/` is looked at. Throws when the rules are not there. */
export function installGuard(context: Context): void {
  context.disk.guard ??= (name, bytes, before) => {
    const found = scanBytes(name, bytes, rulesOf(context.world.env));
    if (found.length === 0) return;
    const fresh = newHits(found, scanBytes(name, before() ?? Buffer.alloc(0), rulesOf(context.world.env)));
    if (fresh.length > 0) throw refusal(context, name, fresh);
  };
}

/** What is in text that somebody gave: to be asked before anything is done with it. */
export function inspectInput(fields: readonly Field[], env: Env, writes: boolean): Found[] {
  const found = scanFields(fields, rulesOf(env)).filter((hit) => writes || CRITICAL.has(hit.class));
  // Wrong input before anything that is only not to be kept; what halts before both.
  const rank = ({ class: name }: Found): number => (CRITICAL.has(name) ? 0 : name === 'invisible' ? 1 : 2);
  return found.sort((a, b) => rank(a) - rank(b));
}

/** Exit 5 for what inspectInput found. */
export const refuseInput = (context: Context, found: readonly Found[]): never =>
  refuseFound(context, '', found);

/** Exit 5 for what was found in a file; `name` is shown. */
export function refuseFound(context: Context, name: string, found: readonly Found[]): never {
  throw refusal(context, name, found);
}

/** The same text with placeholders for what a program may leave out (`--redact`). */
export function redactText(text: string): string {
  const hits = scanText(text, guardRules()).filter((hit) => placeholderOf(hit.class) !== null);
  return maskHits(text, hits, (hit) => placeholderOf(hit.class) ?? '');
}

/** Text that is shown, not stored: what may stand in no message is taken out. */
export function maskText(text: string): string {
  const hits = scanText(text, guardRules()).filter((hit) => CRITICAL.has(hit.class));
  return maskHits(text, hits, (hit) => `<${hit.rule}>`);
}

function maskHits(text: string, hits: readonly Hit[], mask: (hit: Hit) => string): string {
  let masked = '';
  let at = 0;
  for (const hit of hits) {
    if (hit.start < at) continue;
    masked += text.slice(at, hit.start) + mask(hit);
    at = hit.end;
  }
  return masked + text.slice(at);
}

/** What stood there before is no news: `forge guard scan` names it. */
export function newHits(found: readonly Found[], before: readonly Found[]): Found[] {
  const counts = new Map<string, number>();
  const key = ({ rule, value }: Found): string => `${rule} ${value}`;
  for (const hit of before) counts.set(key(hit), (counts.get(key(hit)) ?? 0) + 1);
  return found.filter((hit) => {
    const left = counts.get(key(hit)) ?? 0;
    counts.set(key(hit), left - 1);
    return left <= 0;
  });
}

export function toFinding(context: Context, file: string, hit: Found): GuardFinding {
  const { rule, class: name, what, field, line, value } = hit;
  const fingerprint = createHmac('sha256', readSalt(context.disk)).update(value).digest('hex').slice(0, 16);
  return { rule, class: name, what, file, line, field, fingerprint };
}

/** Exit 5 `guard.<class>`: names the first finding, carries all. */
function refusal(context: Context, name: string, found: readonly Found[]): ForgeError {
  const findings = found.map((hit) => toFinding(context, name, hit));
  const worst = findings.find((finding) => halts(context, finding)) ?? (findings[0] as GuardFinding);
  const more = findings.length > 1 ? ` and ${findings.length - 1} more` : '';
  const message = `${placeOf(worst)}: ${worst.what}${more} (rule ${worst.rule}); nothing was written.`;
  return new ForgeError('secret', `guard.${worst.class}`, message, {
    hint: adviceFor(worst, halts(context, worst)),
    ...(name === '' ? {} : { file: name }),
    ...(worst.field === '' ? {} : { field: worst.field }),
    data: { findings },
  });
}

const placeOf = ({ file, line, field }: GuardFinding): string => {
  const place = [file === '' ? '' : line > 1 ? `${file}:${line}` : file, field].filter(Boolean).join(' ');
  return place === '' ? 'The text' : place;
};

/** A project may ask for more than the critical classes, never for less. */
export const halts = (context: Context, { class: name }: Pick<GuardFinding, 'class'>): boolean =>
  isCritical(name) || isCritical(name, readConfig(context).guard.halt_on);

function adviceFor({ class: name, what }: GuardFinding, halting: boolean): string {
  const placeholder = placeholderOf(name);
  if (placeholder !== null) return `Write ${placeholder} instead, or add --redact`;
  if (halting)
    return 'Leave it out. If it is real, revoke it. Memory is halted until a human runs: forge memory override acknowledge --reason "…"';
  return name === 'proprietary'
    ? 'Name the file instead of quoting it. Whose code is yours, one owner a line, is in ~/.config/forge/owners'
    : `Leave out ${what}`;
}
