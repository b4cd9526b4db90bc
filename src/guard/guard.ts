import { createHmac } from 'node:crypto';
import { readOwners } from '../core/environment.js';
import { ForgeError, outside, REBUILD_HINT } from '../core/error.js';
import { configFile, sessionFile, shown } from '../core/paths.js';
import { type Context, readConfig } from '../project/project.js';
import type { Found } from './document.js';
import type { Field } from './fields.js';
import { CRITICAL, type HaltOn, isCritical, placeholderOf } from './policy.js';
import type { GuardClass, Hit } from './rule.js';
import { readSalt } from './salt.js';

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

/** The rules as they are for one person: copyright lines of their own are no foreign ones (`~/.config/forge/owners`). */
export interface Guard {
  scanBytes(name: string, bytes: Buffer): Found[];
  scanFields(fields: readonly Field[]): Found[];
  scanText(text: string): Hit[];
  /** What may stand in no message, whoever stores it. */
  scanCritical(text: string): Hit[];
}

/** Exit 6 `guard.unavailable` where the rules cannot be loaded: then nothing is written. */
export async function loadGuard(env: Env): Promise<Guard> {
  try {
    const [{ guardRules }, { scanBytes, scanFields }, { scanText }] = await Promise.all([
      import('./table.js'),
      import('./document.js'),
      import('./scan.js'),
    ]);
    const rules = guardRules(readOwners(env));
    return {
      scanBytes: (name, bytes) => scanBytes(name, bytes, rules),
      scanFields: (fields) => scanFields(fields, rules),
      scanText: (text) => scanText(text, rules),
      scanCritical: (text) => scanText(text, rules, ({ class: name }) => CRITICAL.has(name)),
    };
  } catch (cause) {
    throw outside('guard.unavailable', 'The guard could not be loaded; nothing was written.', {
      hint: REBUILD_HINT,
      cause,
    });
  }
}

/** LTM-13: from here on every write into `.forge/` is looked at. */
export async function installGuard(context: Context): Promise<void> {
  const guard = await loadGuard(context.world.env);
  context.disk.guard = (name, bytes, before) => {
    const found = guard.scanBytes(name, bytes).filter(notOwnFolder(context, name));
    if (found.length === 0) return;
    const fresh = newHits(found, guard.scanBytes(name, before() ?? Buffer.alloc(0)));
    if (fresh.length > 0) throw refusal(context, name, fresh);
  };
}

/**
 * Leaves out where the running session works: a folder may have any name, an address too, and that file is this machine's
 * alone. `name` is as it is shown.
 */
export const notOwnFolder =
  ({ layout }: Context, name: string) =>
  ({ field, value }: Found): boolean =>
    field !== 'root' || name !== shown(layout, sessionFile(layout)) || !layout.root.includes(value);

/** What is in text that somebody gave: to be asked before anything is done with it. The gravest first. */
export async function inspectInput(fields: readonly Field[], env: Env, writes: boolean): Promise<Found[]> {
  const guard = await loadGuard(env);
  const found = guard.scanFields(fields).filter((hit) => writes || CRITICAL.has(hit.class));
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
export async function redactText(text: string): Promise<string> {
  const hits = (await loadGuard({})).scanText(text).filter((hit) => placeholderOf(hit.class) !== null);
  return maskHits(text, hits, (hit) => placeholderOf(hit.class) ?? '');
}

/** Text that is shown, not stored: what may stand in no message is taken out. */
export async function maskText(text: string): Promise<string> {
  const hits = (await loadGuard({})).scanText(text).filter((hit) => CRITICAL.has(hit.class));
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
  isCritical(name) || isCritical(name, haltOn(context));

/** While `init` is on its way there are no settings yet. */
const haltOn = (context: Context): HaltOn =>
  context.disk.exists(configFile(context.layout)) ? readConfig(context).guard.halt_on : 'critical';

function adviceFor({ class: name, what }: GuardFinding, halting: boolean): string {
  const placeholder = placeholderOf(name);
  if (placeholder !== null) return `Write ${placeholder} instead, or add --redact`;
  if (halting)
    return 'Leave it out. If it is real, revoke it. Memory is halted until a human runs: forge memory override acknowledge --reason "…"';
  return name === 'proprietary'
    ? 'Name the file instead of quoting it. Whose code is yours, one owner a line, is in ~/.config/forge/owners'
    : `Leave out ${what}`;
}
