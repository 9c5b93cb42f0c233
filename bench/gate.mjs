import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { installNode } from '../scripts/node-builds.mjs';
import { memoryOf, processorTimeOf, runProcess } from './process.mjs';
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

/** The lines of Node on which gates are measured. */
const lines = ['20', '24'];

/**
 * Measures whole processes that read one status, on each line of Node: their milliseconds of processor time and, separately,
 * their peak memory in MiB. Without the compile cache, since most CI jobs start with an empty one.
 */
export function measureGate(rounds) {
  return withService(async (url) => {
    const env = {
      URL: url,
      RUNGATE_API_URL: url,
      RUNGATE_API_KEY: 'rg_bench',
      NODE_DISABLE_COMPILE_CACHE: '1',
    };
    const commands = {
      node: ['-e', '0'],
      version: [bin, '--version'],
      fetch: [path('compared/fetch.mjs')],
      nodeHttp: [path('compared/node-http.mjs')],
      wait: [bin, 'run', 'wait', 'run_1', '--quiet'],
    };
    const found = {};
    for (const line of lines) {
      const node = installNode(line);
      const each = (measure) =>
        Object.fromEntries(
          Object.entries(commands).map(([name, args]) => [name, () => measure(node, args, { env })]),
        );
      found[line] = {
        node: (await runProcess(node, ['--version'])).out.trim(),
        ms: await inTurn(rounds, each(processorTimeOf)),
        mib: await inTurn(rounds, each(memoryOf)),
      };
    }
    return found;
  });
}
