import { ratios } from './statistics.mjs';

const alone = (value) => ({ low: value, median: value, high: value });

/** Node 20 takes longer to load `fetch` than later versions. */
const fetchAtMost = (node) => (node.startsWith('v20.') ? 0.85 : 1);

/** What is promised, against what was measured. `atMost` or `atLeast` is held against the median. */
export function judge({ machine, gate, client, npx }) {
  const rate = ({ ms }) => ratios(ms.undici, ms.rungate);
  const aims = [
    {
      of: '`rungate --version`, time over `node -e 0`',
      atMost: 1.2,
      is: ratios(gate.ms.version, gate.ms.node),
    },
    {
      of: '`run wait` on a finished run, time over a `fetch` script',
      atMost: fetchAtMost(machine.node),
      is: ratios(gate.ms.wait, gate.ms.fetch),
    },
    {
      of: 'its peak of memory over the `fetch` script’s',
      atMost: 1,
      is: ratios(gate.mib.wait, gate.mib.fetch),
    },
    {
      of: 'the client once warm, reads a second over bare undici, one at a time',
      atLeast: 0.85,
      is: rate(client[1].warm),
    },
    { of: 'the same, 16 at once', atLeast: 0.85, is: rate(client[16].warm) },
    { of: 'the tarball, bytes', atMost: 450_000, is: alone(npx.tarballBytes) },
    { of: 'packages that it installs', atMost: 1, is: alone(npx.packages) },
    { of: 'scripts that it runs at install', atMost: 0, is: alone(npx.scripts) },
  ];
  return aims.map((aim) => ({
    ...aim,
    met: aim.is.median <= (aim.atMost ?? Infinity) && aim.is.median >= (aim.atLeast ?? -Infinity),
  }));
}
