import { describe, expect, it } from 'vitest';
// @ts-expect-error a script, which has no types
import { judge } from '../../bench/aims.mjs';
// @ts-expect-error a script, which has no types
import { describeMachine } from '../../bench/machine.mjs';
// @ts-expect-error a script, which has no types
import { performancePage } from '../../bench/page.mjs';

interface Aim {
  of: string;
  met: boolean;
}

const all = (names: string, value: number) =>
  Object.fromEntries(names.split(' ').map((name) => [name, [value, value, value]]));
const reads = (rungate: number) => ({
  ms: { undici: [100, 100, 100], rungate: [rungate, rungate, rungate] },
  busyMs: all('undici rungate', 90),
  mib: all('undici rungate', 80),
});

/** Returns measurements that are all exactly at their limits. */
function found(change: { version?: number; wait?: number; bytes?: number; read?: number } = {}) {
  const { version = 120, wait = 85, bytes = 600_000, read = 100 } = change;
  const gate = {
    ms: {
      ...all('node fetch', 100),
      ...all('nodeHttp', 60),
      ...all('version', version),
      ...all('wait', wait),
    },
    mib: all('node version fetch nodeHttp wait', 50),
  };
  const npx = {
    ms: all('npm empty again', 500),
    ...{ tarballBytes: bytes, packages: 1, installedBytes: 2 ** 20, scripts: 0 },
  };
  const machine = {
    ...{
      date: '2026-01-15',
      node: 'v20.20.2',
      cpu: 'A processor',
      cores: 2,
      memoryGiB: 8,
      system: 'Linux x64',
    },
    ...{ load: 0.1, loadAfter: 1 },
  };
  return {
    machine,
    rounds: 3,
    gate,
    client: { 1: { first: reads(200), warm: reads(read) }, 16: { first: reads(200), warm: reads(100) } },
    npx,
  };
}

const missed = (change: Parameters<typeof found>[0]) =>
  (judge(found(change)) as Aim[]).filter(({ met }) => !met).map(({ of }) => of);

describe('the performance page', () => {
  it('reports an aim as met at its limit', () => {
    expect(missed({})).toEqual([]);
    const page: string = performancePage(found(), '');
    expect(page).toContain('All aims are met.');
    expect(page).toContain(
      '| `rungate --version`, time relative to `node -e 0` | at most 1.2 | 1.20 | 1.20 – 1.20 | met |',
    );
    expect(page).toContain('| size of the tarball in bytes | at most 600,000 | 600,000 |  | met |');
  });

  it.each([
    [{ version: 121 }, 'rungate --version'],
    [{ wait: 91 }, 'run wait'],
    [{ bytes: 600_001 }, 'tarball'],
    [{ read: 118 }, 'client'],
  ])('begins with the number of aims that are not met, for %j', (change, name) => {
    expect(missed(change)).toEqual([expect.stringContaining(name)]);
    const page: string = performancePage(found(change), '');
    expect(page.split('\n\n')[2]).toMatch(/Aims not met: \d of 8\.$/);
    expect(page).toContain('**not met**');
  });

  it('shows the client before and after warm-up', () => {
    const page: string = performancePage(found(), '');
    expect(page).toContain(
      '| `client.run.status`, one at a time, first thousand | 5000 | 5000 – 5000 | 0.50 |',
    );
    expect(page).toContain(
      '| `client.run.status`, 16 at once, after warm-up | 10000 | 10000 – 10000 | 1.00 |',
    );
  });

  it('allows as much time as the fetch script takes on later versions of Node', () => {
    const { machine } = found();
    const late = { ...found({ wait: 100 }), machine: { ...machine, node: 'v24.0.0' } };
    expect((judge(late) as Aim[]).every(({ met }) => met)).toBe(true);
  });

  it('describes the machine without naming it', () => {
    const machine = { ...describeMachine(), loadAfter: 1 };
    const page: string = performancePage({ ...found(), machine }, '');
    expect(page).toContain(`Node ${process.version}`);
    expect(machine.cores).toBeGreaterThan(0);
    // It contains neither the name of a host or user nor a folder.
    expect(Object.keys(describeMachine())).toEqual(Object.keys(found().machine).slice(0, -1));
    expect(page).not.toContain(process.cwd());
  });

  it('shows the stored figures of other tools, and says which tools were not measured', () => {
    const figures = { low: 1, median: 2, high: 3 };
    const peer = {
      ...{
        name: 'other',
        version: '1.2.3',
        installMs: 4400,
        packages: 1263,
        installedBytes: 5 * 2 ** 20,
        scripts: 2,
      },
      ...{ versionMs: figures, overNode: figures, overRungate: figures },
    };
    const stored = { machine: found().machine, peers: [peer, { name: 'none', failed: 'exit 1' }] };
    const page: string = performancePage({ ...found(), peers: stored }, '');
    expect(page).toContain('| other 1.2.3 | 2 | 1 – 3 | 2.0 | 2.0 | 1,263 | 2 | 5.0 | 4 |');
    expect(page).toContain('none: not measured (exit 1).');
    expect(performancePage(found(), page)).toContain('none: not measured (exit 1).');
  });
});
