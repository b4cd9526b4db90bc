import { toPlainGlyphs } from '../cli/screen.js';
import { columns, type Style } from '../cli/style.js';
import type { Color, Component, Status, StatusReport } from '../index.js';

const MARKS: Readonly<Record<Color, string>> = { green: '●', yellow: '◐', red: '○' };

export function paintColor(color: Color, text: string, style: Style): string {
  return { green: style.good, yellow: style.warn, red: style.bad }[color](text);
}

export const markOf = (color: Color, style: Style): string => paintColor(color, MARKS[color], style);

/** Below this a line of its own for each reason reads better than a column of it. */
const NARROW = 50;

/** A line a component; what is not green with the command that improves it. Marks only where a person looks. */
export function renderStatus({ components }: Status, style: Style): string {
  if (style.width !== null && style.width < NARROW)
    return components.map((component) => narrow(component, style)).join('\n');
  const rows = components.flatMap((component) => {
    const [first = '', ...more] = lines(component, style);
    return [[...head(component, style), first], ...more.map((line) => [...EMPTY, line])];
  });
  return columns(rows);
}

const EMPTY = ['', ''];
const head = ({ name, color }: Component, style: Style): string[] => [
  style.width === null ? name : `${markOf(color, style)} ${name}`,
  paintColor(color, color, style),
];

const lines = ({ reasons, fix }: Component, style: Style): string[] => [
  ...reasons,
  ...fix.map((command) => `→ ${style.command(command)}`),
];

const narrow = (component: Component, style: Style): string =>
  [head(component, style).join(' '), ...lines(component, style).map((line) => `  ${line}`)].join('\n');

/** One line for a prompt: a mark for each component, and what the session works on. */
export function renderShort(
  { components, task }: Pick<StatusReport, 'components' | 'task'>,
  style: Style,
): string {
  const marks = components.map(({ color }) => markOf(color, style)).join('');
  // A prompt is put together from what goes into a pipe.
  return ['forge', style.unicode ? marks : toPlainGlyphs(marks), ...(task === null ? [] : [task])].join(' ');
}
