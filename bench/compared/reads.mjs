// Reads the status of a run in one process, `width` reads at a time: node bench/compared/reads.mjs rungate|undici <width>
// Prints the elapsed and processor milliseconds of the first thousand reads, and of a thousand after ten thousand.
import { writeFileSync } from 'node:fs';

const [contender, width] = process.argv.slice(2);
const { URL: apiUrl } = process.env;

const readers = {
  async rungate() {
    const { createClient } = await import('../../dist/index.js');
    const client = createClient({ apiUrl, apiKey: 'rg_bench' });
    return { read: () => client.run.status('run_1'), close: () => client.close() };
  },
  async undici() {
    const { Agent, request, setGlobalDispatcher } = await import('undici');
    const agent = new Agent();
    setGlobalDispatcher(agent);
    const read = async () => {
      const { body } = await request(`${apiUrl}/api/ci/runs/run_1`, { headers: { 'x-api-key': 'rg_bench' } });
      return JSON.parse(await body.text());
    };
    return { read, close: () => agent.close() };
  },
};

const { read, close } = await readers[contender]();

async function measure(reads) {
  let left = reads;
  async function readSome() {
    while (left > 0) {
      left -= 1;
      const { state } = await read();
      if (state !== 'completed') throw new Error(state);
    }
  }
  const [began, used] = [performance.now(), process.cpuUsage()];
  await Promise.all(Array.from({ length: Number(width) }, readSome));
  const ms = performance.now() - began;
  const { user, system } = process.cpuUsage(used);
  return { ms, busyMs: (user + system) / 1000 };
}

const first = await measure(1000);
await measure(9000);
const warm = await measure(1000);
writeFileSync(1, JSON.stringify({ first, warm }));
await close();
