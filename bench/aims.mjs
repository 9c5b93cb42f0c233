import { ratios } from './statistics.mjs';

/** Returns a value without spread. */
export const exactly = (value) => ({ low: value, median: value, high: value });

/** Node 20 loads `fetch` more slowly than later versions. */
const fetchAtMost = { 20: 1, 24: 1.25 };

const gateAims = ([line, { ms, mib }]) => [
  {
    of: `Node ${line}: \`rungate --version\`, time relative to \`node -e 0\``,
    atMost: 1.2,
    is: ratios(ms.version, ms.node),
  },
  {
    of: `Node ${line}: \`run wait\` on a finished run, time relative to a \`fetch\` script`,
    atMost: fetchAtMost[line],
    is: ratios(ms.wait, ms.fetch),
  },
  {
    of: `Node ${line}: \`run wait\`, peak memory relative to the \`fetch\` script`,
    atMost: 1,
    is: ratios(mib.wait, mib.fetch),
  },
];

/** Compares the measurements with the aims. `atMost` and `atLeast` apply to the median. */
export function judge({ gate, client, npx }) {
  const rate = ({ ms }) => ratios(ms.undici, ms.rungate);
  const aims = [
    ...Object.entries(gate).flatMap(gateAims),
    {
      of: 'client after warm-up, reads per second relative to undici, one at a time',
      atLeast: 0.75,
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
