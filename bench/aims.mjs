import { ratios } from './statistics.mjs';

const alone = (value) => ({ low: value, median: value, high: value });

/** What is promised, against what was measured. `atMost` or `atLeast` is held against the median. */
export function judge({ gate, client, npx }) {
  const rate = ({ ms }) => ratios(ms.undici, ms.rungate);
  const aims = [
    {
      of: '`rungate --version`, time over `node -e 0`',
      atMost: 1.15,
      is: ratios(gate.ms.version, gate.ms.node),
    },
    {
      of: '`run wait` on a finished run, time over a `fetch` script',
      atMost: 0.8,
      is: ratios(gate.ms.wait, gate.ms.fetch),
    },
    { of: 'the same over a `node:http` script', atMost: 1.35, is: ratios(gate.ms.wait, gate.ms.nodeHttp) },
    {
      of: 'its peak of memory over the `fetch` script’s',
      atMost: 1,
      is: ratios(gate.mib.wait, gate.mib.fetch),
    },
    { of: 'the client, reads a second over bare undici, one at a time', atLeast: 0.85, is: rate(client[1]) },
    { of: 'the same, 16 at once', atLeast: 0.85, is: rate(client[16]) },
    { of: 'the tarball, bytes', atMost: 300_000, is: alone(npx.tarballBytes) },
    { of: 'packages that it installs', atMost: 1, is: alone(npx.packages) },
    { of: 'scripts that it runs at install', atMost: 0, is: alone(npx.scripts) },
  ];
  return aims.map((aim) => ({
    ...aim,
    met: aim.is.median <= (aim.atMost ?? Infinity) && aim.is.median >= (aim.atLeast ?? -Infinity),
  }));
}
