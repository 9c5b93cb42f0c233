import { fileURLToPath } from 'node:url';
import { withService } from './gate.mjs';
import { peakOf } from './process.mjs';
import { inTurn } from './statistics.mjs';

const reads = fileURLToPath(new URL('compared/reads.mjs', import.meta.url));
const pick = (results, key) =>
  Object.fromEntries(Object.entries(results).map(([name, all]) => [name, all.map((one) => one[key])]));

/**
 * A thousand status reads over one client, and by a bare loop over undici: each time in a process of its own. By the
 * number of reads under way at once: milliseconds of the clock, of the processor, and the peak of memory in MiB.
 */
export function measureClient(rounds) {
  return withService(async (url) => {
    const found = {};
    for (const width of [1, 16]) {
      const run = async (who) => {
        const { out, mib } = await peakOf([reads, who, String(width)], { env: { URL: url } });
        return { ...JSON.parse(out), mib };
      };
      const results = await inTurn(rounds, { undici: () => run('undici'), rungate: () => run('rungate') });
      found[width] = {
        ms: pick(results, 'ms'),
        busyMs: pick(results, 'busyMs'),
        mib: pick(results, 'mib'),
      };
    }
    return found;
  });
}
