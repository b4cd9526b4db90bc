// Draws commands and their output as an animated SVG.
import { stripVTControlCharacters } from 'node:util';

const [WIDTH, HEIGHT] = [840, 460];
const [LEFT, TOP, LINE] = [18, 58, 18];
/** Lines below a command; columns. */
const [LINES, COLUMNS] = [21, 102];
/** Seconds that a page stays. */
const STAY = 6;

/** The colours of ANSI's codes that forge uses. */
const COLOURS = { 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341', 34: '#79c0ff', 36: '#76e3ea', 90: '#8b949e' };
const PLAIN = '#e6edf3';

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A line's runs of one style: `[text, attributes]`. */
function runsOf(line) {
  const style = { fill: PLAIN, bold: false, dim: false };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for.
  return line.split(/(\x1b\[[\d;]*m)/).flatMap((part) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for.
    const codes = /^\x1b\[([\d;]*)m$/.exec(part)?.[1];
    if (codes === undefined) return part === '' ? [] : [[part, attributes(style)]];
    for (const code of codes.split(';').map(Number)) apply(style, code);
    return [];
  });
}

function apply(style, code) {
  if (code === 0) Object.assign(style, { fill: PLAIN, bold: false, dim: false });
  if (code === 1) style.bold = true;
  if (code === 2) style.dim = true;
  if (code === 22) Object.assign(style, { bold: false, dim: false });
  if (code === 39) style.fill = PLAIN;
  if (COLOURS[code]) style.fill = COLOURS[code];
}

const attributes = ({ fill, bold, dim }) =>
  `fill="${dim && fill === PLAIN ? '#8b949e' : fill}"${bold ? ' font-weight="bold"' : ''}`;

/** Cut at the edge of the terminal. */
function drawLine(line, row) {
  let left = COLUMNS;
  const spans = runsOf(line).map(([text, style]) => {
    const shown = text.slice(0, Math.max(0, left));
    left -= text.length;
    return `<tspan ${style}>${escaped(shown)}</tspan>`;
  });
  return `<text xml:space="preserve" x="${LEFT}" y="${TOP + row * LINE}">${spans.join('')}</text>`;
}

/** A command and its output as lines. `from` skips the lines between the first one and the one that begins with it. */
function linesOf({ line, text, from }) {
  const lines = text.split('\n');
  const start =
    from === undefined ? 0 : lines.findIndex((one) => stripVTControlCharacters(one).startsWith(from));
  const kept = start > 1 ? [lines[0], '…', ...lines.slice(start)] : lines;
  const shown = kept.length > LINES ? [...kept.slice(0, LINES - 1), '…'] : kept;
  return [`\x1b[32m$\x1b[39m \x1b[1m${line}\x1b[22m`, ...shown];
}

/** As many commands on a page as fit, with an empty line between them. */
function pagesOf(scenes) {
  const pages = [];
  for (const lines of scenes.map(linesOf)) {
    const page = pages.at(-1);
    if (page && page.length + 1 + lines.length <= LINES + 1) page.push('', ...lines);
    else pages.push(lines);
  }
  return pages;
}

const drawPage = (lines, i, count) =>
  `<g class="page" style="animation-delay:${(i - count) * STAY}s">\n${lines.map(drawLine).join('\n')}\n</g>`;

/**
 * `[{ line, text, from? }]`: each command with what it printed, colours and all. Page after page, for ever; where nothing
 * may move, the last one.
 */
export function drawScenes(scenes) {
  const pages = pagesOf(scenes);
  const title = `forge at a terminal: ${scenes.map(({ line }) => line).join('; ')}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title).replaceAll('"', '&quot;')}">
<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; }
.page { visibility: hidden; animation: turn ${pages.length * STAY}s step-end infinite; }
@keyframes turn { 0% { visibility: visible; } ${100 / pages.length}% { visibility: hidden; } }
@media (prefers-reduced-motion: reduce) { .page { animation: none; } .page:last-of-type { visibility: visible; } }
</style>
<rect width="${WIDTH}" height="${HEIGHT}" rx="10" fill="#0d1117"/>
<circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/><circle cx="62" cy="20" r="6" fill="#28c840"/>
${pages.map((page, i) => drawPage(page, i, pages.length)).join('\n')}
</svg>
`;
}
