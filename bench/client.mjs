import { fileURLToPath } from 'node:url';
import { withService } from './gate.mjs';
import { peakOf } from './process.mjs';
import { inTurn } from './statistics.mjs';

const reads = fileURLToPath(new URL('compared/reads.mjs', import.meta.url));
const contenders = ['undici', 'rungate'];

/** Returns one figure of one phase for each contender, as a list with an entry for each round. */
const pick = (results, phase, key) =>
  Object.fromEntries(contenders.map((name) => [name, results[name].map((one) => one[phase][key])]));

/**
 * Measures a thousand status reads by one client and by a bare loop over undici, each in its own process: the
 * `first` thousand of the process, and a thousand after it is `warm`. Returns, by the number of concurrent
 * reads, milliseconds of elapsed and of processor time, and the process's peak memory in MiB.
 */
export function measureClient(rounds) {
  return withService(async (url) => {
    const found = {};
    for (const width of [1, 16]) {
      const run = async (name) => {
        const { out, mib } = await peakOf(process.execPath, [reads, name, String(width)], {
          env: { URL: url },
        });
        const { first, warm } = JSON.parse(out);
        return { first: { ...first, mib }, warm: { ...warm, mib } };
      };
      const results = await inTurn(
        rounds,
        Object.fromEntries(contenders.map((name) => [name, () => run(name)])),
      );
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
