import { displayWidth, type Screen, toPlainGlyphs } from './screen.js';

/** A bar on stderr for what takes more than a second; gone afterwards, and nothing where no person looks. */
export interface ProgressBar {
  show(done: number, total: number): void;
  end(): void;
}

const MAX_BAR = 30;

/** `screen`: of stderr; null where it is no terminal. */
export function makeProgressBar(
  label: string,
  screen: Screen | null,
  write: (text: string) => void,
): ProgressBar {
  const started = performance.now();
  let shownAt = 0;
  return {
    show(done, total) {
      const now = performance.now();
      if (!screen || now - started < 1000 || now - shownAt < 100) return;
      shownAt = now;
      const line = barLine(label, total > 0 ? Math.min(1, done / total) : 1, screen.width - 1);
      write(`\r${screen.unicode ? line : toPlainGlyphs(line)}`);
    },
    end() {
      if (shownAt > 0) write('\r\u001b[K');
      shownAt = 0;
    },
  };
}

/** Never as wide as the terminal: a line that wraps could not be taken back. */
function barLine(label: string, part: number, room: number): string {
  const percent = `${Math.floor(part * 100)}%`;
  const width = Math.min(MAX_BAR, room - displayWidth(label) - ' '.length * 2 - '100%'.length);
  if (width < 3) return percent;
  const filled = Math.round(part * width);
  return `${label} ${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${percent}`;
}
