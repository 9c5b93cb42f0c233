import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Fault } from '../../src/mock/faults/faults.ts';
import { outageHead, outageRow, playOutages } from './outages.ts';
import {
  allFaults,
  type BareFault,
  differences,
  type Played,
  play,
  type Subject,
  sameAsFirst,
  subjects,
  timeOutStalledRequests,
  withDefaults,
} from './scene.ts';

timeOutStalledRequests();

type Lasting = 'once' | 'for good';

async function cell(subject: Subject, bare: BareFault, lasting: Lasting): Promise<Played> {
  const { endpoint, skip, argv } = subject;
  const forGood = lasting === 'for good';
  const fault = {
    ...bare,
    ...(forGood && bare.kind === 'refused' ? { forMs: 1e12 } : {}),
    endpoint,
    skip,
    ...(forGood ? { times: Number.POSITIVE_INFINITY } : {}),
  } as Fault;
  return play(argv, [fault], { endpoint });
}

const seconds = (ms: number) =>
  ms >= 100_000 ? `${Math.round(ms / 6000) / 10} min` : `${Math.round(ms / 100) / 10} s`;

function createdBy({ runs, keys }: Played): string {
  const parts = [runs > 0 ? `${runs} run` : '', keys > 0 ? `${keys} key` : ''].filter((part) => part !== '');
  return parts.length === 0 ? '' : `, ${parts.join(', ')}`;
}

/** After `reset-after`, the number of requests is random: the client may or may not notice the reset before the next request. */
const cellText = (played: Played, { kind }: BareFault) =>
  kind === 'reset-after'
    ? `**${played.code}**${createdBy(played)}`
    : `**${played.code}**, ${played.attempts}×, ${seconds(played.elapsedMs)}${createdBy(played)}`;

const headOf = (first: string, columns: readonly { name: string }[]) => [
  first,
  ...columns.map(({ name }) => `\`${name}\``),
];

function table(rows: readonly (readonly string[])[], head: readonly string[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

/** The table of another test, which this one leaves as it is. */
function sliceTable(): string {
  const page = readFileSync(new URL('../../docs/project/reliability.md', import.meta.url), 'utf8');
  return /<!-- table -->.*<!-- end of table -->/s.exec(page)?.[0] ?? '';
}

const text = (once: string, forGood: string, defaults: string, outages: string) => `# Reliability

This page shows how four commands handle each fault of the service or the network. Each cell has, in this order:

- the **exit code**: 0 passed or done, 5 the service responded with an error, or not as its API says, 6 credentials refused, 7 not reached;
- the number of requests that reached the endpoint;
- the time on a clock that only advances during waits. A request that stalls takes \`--request-timeout\` (30 s) more;
- the runs or keys that were created: at most one, however often the request was sent.

The fault occurs when \`gate\` creates the run, when \`run wait\` reads the status for the second time (both with \`--max-attempts 6\`), when \`env list
--all\` reads its second page, and when \`keys create\` creates the key. The run passes after 15 s. \`gate\` uses the same wait as \`run wait\`. The cells of
\`run trigger --wait\` are those of \`gate\`, except for [their defaults](#defaults).

\`test/reliability/table.test.ts\` plays every cell against the mock over a real socket and fails if this page differs; \`npm run docs:reliability\` writes it again.

## Temporary faults

The fault affects one call (three calls for a burst; for 1 s, if connections are refused). Later calls succeed. \`keys create\` has no
idempotency key in the API, so rungate retries it only if the first request certainly did nothing. If the response is lost, it reports that and does not
create a second key.

${once}
## Permanent faults

The fault affects every call from then on. A \`0\` in this table is a fault that does not hide the verdict; the gate never passes without having read it.

${forGood}
## Defaults

\`gate\` is strict and reads the status until its timeout, an hour. \`run trigger --wait\` and \`run wait\` read it 60 times, and a cancelled run is a warning. Without options,
the number of requests is that of status reads:

${defaults}
## Outages

Twenty gates start within 10 seconds, while the service fails each create. The outage begins before them and lasts 12 or 60 s. The service counts all requests, and
refuses those above 20 creates a minute with 429. Runs take 1 to 2 minutes; every fourth one fails. The timeout is an hour, and 10 minutes with a hub. The clock is virtual.

${outages}
## Slices

The table compares two loops in a shell that stops each command after 120 seconds:

- With \`--slice 45s\`, the loop runs the command in \`next\` while the exit code is 75. If the shell stopped a command, the loop repeats the last one it knows.
- Without \`--slice\`, the loop repeats the same command until it exits, 6 times at most. The shell stops it with SIGKILL or SIGTERM.

A run takes 10 minutes and passes, unless the row says otherwise. Each cell shows the exit code and the verdict, the number of runs that the service created, the number
of commands, and the time. A bold exit code is the right one.

${sliceTable()}

\`test/slice/tasks.test.ts\` plays every cell on a virtual clock, against the mock over a real socket. \`test/long/slices.test.ts\` plays two runs of 3 minutes with real processes.

## More tests

- \`test/long/reliability.test.ts\` plays a thousand waits with random faults (from a seed), and \`kill -9\` at any point of \`run trigger --wait\`.
- \`test/reliability/fuzz.test.ts\` plays thousands of hostile responses, headers and \`Retry-After\` values.
- \`test/reliability/bounds.test.ts\` tests the limits: 16 MiB, 500,000 values and 500 levels in a response, 5 redirects within the origin, 4 requests, 2 minutes
  per call, 2,000 characters of an explanation.
`;

/** Checks the rules that hold for every cell. */
function check(what: string, subject: Subject, played: Played): void {
  const { code, out, err, secrets, runs, keys } = played;
  expect([0, 3, 5, 6, 7], what).toContain(code);
  expect(runs, what).toBeLessThanOrEqual(subject.endpoint === 'run.trigger' ? 1 : 0);
  expect(keys, what).toBeLessThanOrEqual(subject.endpoint === 'keys.create' ? 1 : 0);
  for (const secret of secrets) expect(out + err, what).not.toContain(secret);
}

// `npm run docs:reliability` is this test with --update: it writes the file that it otherwise compares.
it('writes docs/project/reliability.md, unchanged', async () => {
  const rows: Record<Lasting, string[][]> = { once: [], 'for good': [] };
  for (const lasting of ['once', 'for good'] as const) {
    const row = async ([name, bare]: (typeof allFaults)[number]) => {
      const [same, ...cells] = await Promise.all(
        [sameAsFirst, ...subjects].map(async (subject) => {
          const played = await cell(subject, bare, lasting);
          check(`${name}, ${lasting}: ${subject.name}`, subject, played);
          return cellText(played, bare);
        }),
      );
      expect(same, `${name}, ${lasting}: ${sameAsFirst.name}`).toBe(cells[0]);
      return [name, ...cells];
    };
    // Four faults at a time, since they mostly wait.
    for (let index = 0; index < allFaults.length; index += 4)
      rows[lasting].push(...(await Promise.all(allFaults.slice(index, index + 4).map(row))));
  }
  const defaults = await Promise.all(
    differences.map(async ([name, options, faults]) => {
      const endpoint = 'run.status';
      const played = await Promise.all(
        withDefaults.map(({ argv }) => play(argv, faults, { endpoint, options })),
      );
      return [name, ...played.map((one) => cellText(one, { kind: 'status' }))];
    }),
  );
  const outages = await playOutages();
  for (const { name, hub, right, perGate, perMinute } of outages) {
    expect(right, name).toBe(20);
    if (hub) expect(perMinute, name).toBeLessThanOrEqual(16);
    else expect(perGate, name).toBeLessThanOrEqual(8);
  }
  const page = text(
    table(rows.once, headOf('fault', subjects)),
    table(rows['for good'], headOf('fault', subjects)),
    table(defaults, headOf('without options', withDefaults)),
    table(outages.map(outageRow), outageHead),
  );
  await expect(page).toMatchFileSnapshot('../../docs/project/reliability.md');
});
