import { fileURLToPath } from 'node:url';
import { withService } from './gate.mjs';
import { peakOf } from './process.mjs';
import { inTurn } from './statistics.mjs';

const reads = fileURLToPath(new URL('compared/reads.mjs', import.meta.url));
const who = ['undici', 'rungate'];

/** One figure of one phase, by who made the reads, as a list with an entry for each round. */
const pick = (results, phase, key) =>
  Object.fromEntries(who.map((name) => [name, results[name].map((one) => one[phase][key])]));

/**
 * A thousand status reads over one client, and by a bare loop over undici, each time in a process of its own: the `first`
 * thousand, and a thousand once it is `warm`. By the number of reads under way at once: milliseconds of the clock, of the
 * processor, and the process's peak of memory in MiB.
 */
export function measureClient(rounds) {
  return withService(async (url) => {
    const found = {};
    for (const width of [1, 16]) {
      const run = async (name) => {
        const { out, mib } = await peakOf([reads, name, String(width)], { env: { URL: url } });
        const { first, warm } = JSON.parse(out);
        return { first: { ...first, mib }, warm: { ...warm, mib } };
      };
      const results = await inTurn(rounds, Object.fromEntries(who.map((name) => [name, () => run(name)])));
      const phase = (name) => ({
        ms: pick(results, name, 'ms'),
        busyMs: pick(results, name, 'busyMs'),
        mib: pick(results, name, 'mib'),
      });
      found[width] = { first: phase('first'), warm: phase('warm') };
    }
    return found;
  });
}
