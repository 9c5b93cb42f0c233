import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const peak = fileURLToPath(new URL('peak.cjs', import.meta.url));

/** Runs a process to its end. Returns its standard output and the elapsed milliseconds. */
export function runProcess(command, args, { env = {}, cwd, timeoutMs = 60_000, pipe = [] } = {}) {
  return new Promise((resolve, reject) => {
    const began = process.hrtime.bigint();
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', ...pipe],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    const read = ['', '', ''];
    child.stdio.slice(1).forEach((stream, at) => {
      stream.on('data', (chunk) => {
        read[at] += chunk;
      });
    });
    let ms = 0;
    child.once('exit', () => {
      ms = Number(process.hrtime.bigint() - began) / 1e6;
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve({ ms, out: read[0], extra: read[2] });
      else reject(new Error(`${signal ?? `exit ${code}`}: ${args.join(' ')}\n${read[1].slice(-2000)}`));
    });
  });
}

/** Returns the elapsed milliseconds of one Node process. */
export async function timeOf(args, options) {
  return (await runProcess(process.execPath, args, options)).ms;
}

/** Returns the milliseconds of processor time of one process: other programs change them less than the elapsed time. */
export async function processorTimeOf(command, args, options) {
  // bash measures in milliseconds, /usr/bin/time in hundredths of a second.
  const script = 'TIMEFORMAT="%U %S"; { time "$0" "$@" 2>&4; } 4>&2 2>&3';
  const measured = ['-c', script, command, ...args];
  const { extra } = await runProcess('bash', measured, { ...options, pipe: ['pipe'] });
  const [user, system] = extra.trim().split(' ').map(Number);
  return (user + system) * 1000;
}

/** Returns the output and the peak memory in MiB of one Node process. */
export async function peakOf(node, args, options) {
  const measured = ['--require', peak, ...args];
  const { out, extra } = await runProcess(node, measured, { ...options, pipe: ['pipe'] });
  return { out, mib: Number(extra) / 1024 };
}

/** Returns the peak memory in MiB; measured separately from the time, which the measurement would increase. */
export async function memoryOf(node, args, options) {
  return (await peakOf(node, args, options)).mib;
}
