import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const peak = fileURLToPath(new URL('peak.cjs', import.meta.url));

/** Whole processes: from the call until the end was seen. Gives the standard output, and milliseconds. */
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

/** Milliseconds of one run of Node. */
export async function timeOf(args, options) {
  return (await runProcess(process.execPath, args, options)).ms;
}

/** One run of Node: what it wrote, and the most memory that it held, in MiB. */
export async function peakOf(args, options) {
  const measured = ['--require', peak, ...args];
  const { out, extra } = await runProcess(process.execPath, measured, { ...options, pipe: ['pipe'] });
  return { out, mib: Number(extra) / 1024 };
}

/** That memory alone; it is measured apart from the time, since the look at it takes some. */
export async function memoryOf(args, options) {
  return (await peakOf(args, options)).mib;
}
