// Loaded into a measured process: on exit, writes its peak memory in KiB to file descriptor 3.
const { readFileSync, writeSync } = require('node:fs');

process.on('exit', () => {
  // On Linux, maxRSS includes the parent process at the time of the fork; VmHWM does not.
  const own =
    process.platform === 'linux' ? /VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) : null;
  writeSync(3, own?.[1] ?? String(process.resourceUsage().maxRSS));
});
