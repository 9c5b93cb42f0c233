// Loaded into a process that is measured: on its way out it writes the most memory that it held, in KiB, to file 3.
const { readFileSync, writeSync } = require('node:fs');

process.on('exit', () => {
  // On Linux maxRSS is at least what the process that started this one held: VmHWM is of this one alone.
  const own =
    process.platform === 'linux' ? /VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) : null;
  writeSync(3, own?.[1] ?? String(process.resourceUsage().maxRSS));
});
