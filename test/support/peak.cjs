// Writes the most memory that this process had, in KiB, to $PEAK_FILE. Linux counts in maxRSS what the parent had, too.
const { existsSync, readFileSync, writeFileSync } = require('node:fs');

const STATUS = '/proc/self/status';

process.on('exit', () => {
  const own = existsSync(STATUS) ? /VmHWM:\s*(\d+)/.exec(readFileSync(STATUS, 'utf8'))?.[1] : undefined;
  writeFileSync(process.env.PEAK_FILE, own ?? String(process.resourceUsage().maxRSS));
});
