/** Milliseconds since this process was started, whatever is done to the clock. Node loads ten modules for performance.now(). */
export const elapsed = (): number => process.uptime() * 1000;
