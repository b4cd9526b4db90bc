/** A bar on stderr for what takes more than a second; nothing where no person looks. */
export interface ProgressBar {
  show(done: number, total: number): void;
  end(): void;
}

const WIDTH = 30;

export function makeProgressBar(label: string, write: ((text: string) => void) | null): ProgressBar {
  const started = performance.now();
  let shownAt = 0;
  return {
    show(done, total) {
      const now = performance.now();
      if (!write || now - started < 1000 || now - shownAt < 100) return;
      shownAt = now;
      const part = total > 0 ? Math.min(1, done / total) : 1;
      const filled = Math.round(part * WIDTH);
      write(`\r${label} ${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${Math.floor(part * 100)}%`);
    },
    end() {
      if (shownAt > 0) write?.('\r\u001b[K');
    },
  };
}
