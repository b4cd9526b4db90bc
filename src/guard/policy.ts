import type { GuardClass } from './rule.js';

/** What a hit of each class means (docs/guard.md, "What a hit means"). */
interface Policy {
  /** Refused, and memory is halted until a human has looked. */
  critical: boolean;
  /** What `--redact` writes in its place; null where leaving it out is no decision for a program. */
  placeholder: string | null;
}

const POLICIES: Record<GuardClass, Policy> = {
  secret: { critical: true, placeholder: null },
  card: { critical: true, placeholder: null },
  iban: { critical: true, placeholder: null },
  'national-id': { critical: true, placeholder: null },
  email: { critical: false, placeholder: '<email>' },
  phone: { critical: false, placeholder: '<phone>' },
  ip: { critical: false, placeholder: '<ip>' },
  proprietary: { critical: false, placeholder: null },
  invisible: { critical: false, placeholder: null },
};

/** `all`: the project asked for more (`guard.halt_on`); a project can never ask for less. */
export type HaltOn = 'critical' | 'all';

export const isCritical = (name: GuardClass, haltOn: HaltOn = 'critical'): boolean =>
  POLICIES[name].critical || haltOn === 'all';

export const placeholderOf = (name: GuardClass): string | null => POLICIES[name].placeholder;

/** Classes that are refused in any text, even where it is not stored: no message or log may repeat them. */
export const CRITICAL: ReadonlySet<GuardClass> = new Set(
  (Object.keys(POLICIES) as GuardClass[]).filter((name) => POLICIES[name].critical),
);
