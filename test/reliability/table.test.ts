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
import { statusHead, statusRows } from './statuses.ts';

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

/** Returns a table in which rows with the same cells are one row. */
function table(rows: readonly (readonly string[])[], head: readonly string[]): string {
  const namesOf = new Map<string, string[]>();
  for (const [name = '', ...cells] of rows) {
    const text = cells.join(' | ');
    namesOf.set(text, [...(namesOf.get(text) ?? []), name]);
  }
  const merged = [...namesOf].map(([text, names]) => [names.join('<br>'), text]);
  return [head, head.map(() => '---'), ...merged].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

/** The sections of the page with the tables of other tests, which this one leaves as they are. */
function otherSections(): string {
  const page = readFileSync(new URL('../../docs/project/reliability.md', import.meta.url), 'utf8');
  return /## Slices\n.*(?=\n## More tests)/s.exec(page)?.[0] ?? '';
}

const text = (
  once: string,
  forGood: string,
  statuses: string,
  defaults: string,
  outages: string,
) => `# Reliability

This page shows how four commands handle each fault of the service or the network. For example, the service starts a run, but its response is lost:

\`\`\`console
$ rungate mock exec --retry-after 1 --fault reset-after-commit@create -- rungate gate --project shop --process checkout
creating the run failed: the connection to 127.0.0.1:42567 broke before the response was complete: read ECONNRESET; retrying in 1.3 s, for up to 5 min
created run: run_79e0tee2vbs7 (shop / checkout) https://app.example.test/projects/shop/runs/run_79e0tee2vbs7
…
✓ shop / checkout (run run_79e0tee2vbs7) passed: 0 failed, 0 blocked https://app.example.test/projects/shop/runs/run_79e0tee2vbs7
\`\`\`

The tables call this fault *lost response after commit*. Each cell contains, in this order:

- the **exit code**: 0 passed or done, 3 timeout, 4 cancelled, 5 error or invalid response, 6 credentials refused, 7 not reached
- the number of requests that reached the endpoint
- the time on a clock that only advances during waits. Add \`--request-timeout\` (30 s) for each request that stalls
- the created runs or keys: never more than one

For *reset after the response*, the number and the time vary, so the cells leave them out.

| command | the fault occurs |
| --- | --- |
| \`gate --max-attempts 6\` | when it creates the run |
| \`run wait --max-attempts 6\` | at its second status read |
| \`env list --all\` | at its second page |
| \`keys create\` | when it creates the key |

The run passes after 15 s. \`gate\` waits like \`run wait\`. The cells of \`run trigger --wait\` are those of \`gate\`, except for [its defaults](#defaults).

\`test/reliability/table.test.ts\` plays every cell against the mock over a real socket, and fails if this page differs. \`npm run docs:reliability\` writes it again.

## Temporary faults

The fault affects one call, and later calls succeed. A burst affects three calls. Connections are refused for 1 s.

The API defines no idempotency key for \`keys create\`. rungate retries it only if the first request certainly did nothing. After a lost response, it creates no
second key:

\`\`\`console
$ rungate mock exec --fault reset-after-commit@keys.create -- rungate keys create --name ci # exits 7
error: the connection to 127.0.0.1:36727 broke before the response was complete: read ECONNRESET
  → the service may have acted on the request: check that before you send it again; a key named "ci" may exist now, but its token is lost: look for it in the service's settings, delete it there or with rungate keys delete <id>, then create another one
\`\`\`

${once}
## Permanent faults

The fault affects every call from then on. The exit code is \`0\` only if the fault does not hide the verdict. The gate never passes without reading its verdict:

\`\`\`console
$ rungate mock exec --retry-after 1 --fault 503@status:all -- rungate gate --project shop --process checkout --max-attempts 2 # exits 5
…
✗ shop / checkout (run run_79e0tee2vbs7) could not be observed: the service failed (503) for GET /api/ci/runs/run_79e0tee2vbs7: Fault: status 503
  → try again later
gate failed (exit 5)
unobserved: https://app.example.test/projects/shop/runs/run_79e0tee2vbs7
\`\`\`

${forGood}
## Status codes

Here the first or the second status read gets the response. A cell shows the exit code and the time, first if later reads succeed, then if all of them get this
response. The timeout is 10 minutes. \`Retry-After\` requests 20 s. JSON has the field \`error\`. HTML and the redirect (302), to another origin, come from something in
front of the service. [Failed reads](../reference/waiting.md#failed-reads) explains the rules.

${statuses}
## Defaults

\`gate\` is strict, and reads the status until its timeout of an hour. \`run trigger --wait\` and \`run wait\` read it 60 times. They warn about a cancelled run:

\`\`\`console
$ rungate mock exec --retry-after 1 --outcome cancelled -- rungate run trigger --project shop --process checkout --wait --timeout 5m
…
! WARNING: shop / checkout (run run_79e0tee2vbs7) was cancelled before it finished https://app.example.test/projects/shop/runs/run_79e0tee2vbs7
  → the gate lets it pass; --on cancelled=fail makes it fail
\`\`\`

This table shows the commands without options. The number of requests is that of status reads:

${defaults}
## Outages

Twenty gates start within 10 s, while the service fails every request that creates a run. The outage begins before them and lasts 12 or 60 s. The service allows 20
of these requests a minute, and also counts those that it refuses with 429.

Runs take 1 to 2 minutes, and every fourth one fails. The timeout is an hour, or 10 minutes with a hub. The clock is virtual.

*Per gate* is the largest number of requests by one gate in its first minute. *Per minute* is the largest number by all gates.

${outages}
${otherSections()}
## More tests

- \`test/simulation\` plays gates with virtual time: several processes, kills, stops, lost and late responses, unusable disks, deleted state, clock jumps and re-runs. \`npm test\` plays 200 seeds, and \`npm run simulate -- --minutes 60\` more. It prints the steps of a failure, and \`npm run simulate -- --seed <n>\` replays them.
- \`test/reliability/fuzz.test.ts\` plays thousands of hostile responses, headers and \`Retry-After\` values.
- \`test/reliability/bounds.test.ts\` plays responses that are too large, too deep or too long, and checks that the output stays short.

These limits apply:

| limit | value |
| --- | --- |
| response, also decompressed | 16 MiB, or 1 MiB for a run or an error |
| JSON in it | 500,000 values, 500 levels |
| explanation in an error | 2,000 characters |
| redirects within the origin | 5 |
| one call | 4 requests, 2 minutes ([more](../reference/creating-runs.md#outages) if a gate creates its run) |
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
    table(await statusRows(), statusHead),
    table(defaults, headOf('without options', withDefaults)),
    table(outages.map(outageRow), outageHead),
  );
  await expect(page).toMatchFileSnapshot('../../docs/project/reliability.md');
});
