import { ratios } from './statistics.mjs';

/** Returns a value without spread. */
export const exactly = (value) => ({ low: value, median: value, high: value });

/** The aim for the `fetch` script; Node 20 loads `fetch` more slowly than later versions. */
const fetchAtMost = (node) => (node.startsWith('v20.') ? 0.9 : 1);

/** Compares the measurements with the aims. `atMost` and `atLeast` apply to the median. */
export function judge({ machine, gate, client, npx }) {
  const rate = ({ ms }) => ratios(ms.undici, ms.rungate);
  const aims = [
    {
      of: '`rungate --version`, time relative to `node -e 0`',
      atMost: 1.2,
      is: ratios(gate.ms.version, gate.ms.node),
    },
    {
      of: '`run wait` on a finished run, time relative to a `fetch` script',
      atMost: fetchAtMost(machine.node),
      is: ratios(gate.ms.wait, gate.ms.fetch),
    },
    {
      of: '`run wait`, peak memory relative to the `fetch` script',
      atMost: 1,
      is: ratios(gate.mib.wait, gate.mib.fetch),
    },
    {
      of: 'client after warm-up, reads per second relative to undici, one at a time',
      atLeast: 0.85,
      is: rate(client[1].warm),
    },
    {
      of: 'client after warm-up, reads per second relative to undici, 16 at once',
      atLeast: 0.85,
      is: rate(client[16].warm),
    },
    { of: 'size of the tarball in bytes', atMost: 600_000, is: exactly(npx.tarballBytes) },
    { of: 'installed packages', atMost: 1, is: exactly(npx.packages) },
    { of: 'install scripts', atMost: 0, is: exactly(npx.scripts) },
  ];
  return aims.map((aim) => ({
    ...aim,
    met: aim.is.median <= (aim.atMost ?? Infinity) && aim.is.median >= (aim.atLeast ?? -Infinity),
  }));
}
