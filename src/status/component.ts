/**
 * The health of memory, RFC-9060 §8.1: five components, each with a colour, its reasons and what improves it. Neutral is
 * what was not begun: nothing is wrong with it.
 */
export const COLORS = ['neutral', 'green', 'yellow', 'red'] as const;
export type Color = (typeof COLORS)[number];

const COMPONENTS = ['long-term', 'short-term', 'features', 'git', 'linear'] as const;
type ComponentName = (typeof COMPONENTS)[number];

export interface Component {
  name: ComponentName;
  color: Color;
  /** Worst first; never empty. */
  reasons: string[];
  /** Commands to type, for what is not green. */
  fix: string[];
}

export interface Status {
  components: Component[];
  worst: Color;
}

/** One thing that a rule saw, and what it makes of the component. */
export interface Remark {
  color: Color;
  reason: string;
  fix?: string | undefined;
}

export const neutral = (reason: string): Remark => ({ color: 'neutral', reason });
export const green = (reason: string): Remark => ({ color: 'green', reason });
export const yellow = (reason: string, fix?: string): Remark => ({ color: 'yellow', reason, fix });
export const red = (reason: string, fix?: string): Remark => ({ color: 'red', reason, fix });

export function worstOf(colors: readonly Color[]): Color {
  return COLORS[Math.max(0, ...colors.map((color) => COLORS.indexOf(color)))] as Color;
}

/** A component is as bad as the worst that was seen of it; what is fine is told only where nothing else is to be told. */
export function toComponent(name: ComponentName, remarks: readonly Remark[]): Component {
  const color = worstOf(remarks.map((remark) => remark.color));
  const told = remarks
    .filter((remark) => remark.color === color || !['neutral', 'green'].includes(remark.color))
    .sort((a, b) => COLORS.indexOf(b.color) - COLORS.indexOf(a.color));
  const fix = told.flatMap((remark) => (remark.fix === undefined ? [] : [remark.fix]));
  return { name, color, reasons: told.map(({ reason }) => reason), fix: [...new Set(fix)] };
}

export function toStatus(seen: Readonly<Record<ComponentName, readonly Remark[]>>): Status {
  const components = COMPONENTS.map((name) => toComponent(name, seen[name]));
  return { components, worst: worstOf(components.map(({ color }) => color)) };
}
