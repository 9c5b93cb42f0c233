import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { memoryOf, timeOf } from './process.mjs';
import { inTurn } from './statistics.mjs';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
export const bin = path('../bin/rungate.js');

/** Calls `use` with the URL of a service that runs in its own process. */
export async function withService(use) {
  const service = spawn(process.execPath, [path('service.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const [url] = await once(service.stdout, 'data');
    return await use(String(url).trim());
  } finally {
    service.stdin.end();
    await once(service, 'exit');
  }
}

/** Measures whole processes that read one status: their milliseconds and, separately, their peak memory in MiB. */
export function measureGate(rounds) {
  return withService(async (url) => {
    const env = { URL: url, RUNGATE_API_URL: url, RUNGATE_API_KEY: 'rg_bench' };
    const commands = {
      node: ['-e', '0'],
      version: [bin, '--version'],
      fetch: [path('compared/fetch.mjs')],
      nodeHttp: [path('compared/node-http.mjs')],
      wait: [bin, 'run', 'wait', 'run_1', '--quiet'],
    };
    const each = (measure) =>
      Object.fromEntries(
        Object.entries(commands).map(([name, args]) => [name, () => measure(args, { env })]),
      );
    return { ms: await inTurn(rounds, each(timeOf)), mib: await inTurn(rounds, each(memoryOf)) };
  });
}
