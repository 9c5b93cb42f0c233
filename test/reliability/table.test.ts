import { expect, it } from 'vitest';
import type { Fault } from '../../src/mock/faults/faults.ts';
import { allFaults, type BareFault, type Played, play, type Subject, subjects } from './scene.ts';

type Lasting = 'once' | 'for good';

/** What does not end by itself; anything else may take as long as a busy machine needs. */
const endless: readonly string[] = ['black-hole', 'stall-headers', 'stall-body', 'drip'];

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
  const requestTimeout = endless.includes(bare.kind) ? '1s' : '30s';
  return play(argv, [fault], { endpoint, patient: bare.kind === 'refused', requestTimeout });
}

const seconds = (ms: number) =>
  ms >= 100_000 ? `${Math.round(ms / 6000) / 10} min` : `${Math.round(ms / 100) / 10} s`;

function made({ runs, keys }: Played): string {
  const parts = [runs > 0 ? `${runs} run` : '', keys > 0 ? `${keys} key` : ''].filter((part) => part !== '');
  return parts.length === 0 ? '' : `, ${parts.join(', ')}`;
}

/** Whether the client hears of this reset before it uses the connection again is a matter of luck. */
const shown = (played: Played, { kind }: BareFault) =>
  kind === 'reset-after'
    ? `**${played.code}**${made(played)}`
    : `**${played.code}**, ${played.attempts}×, ${seconds(played.elapsedMs)}${made(played)}`;

function table(rows: readonly (readonly string[])[]): string {
  const head = ['fault', ...subjects.map(({ name }) => `\`${name}\``)];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

const text = (once: string, forGood: string) => `# Reliability

What each command does about each fault. Made by \`test/reliability/table.test.ts\`, which plays every cell against the mock
over a real socket and fails while this file says something else; \`npm run docs:reliability\` writes it again.

A cell has the **exit code**, the requests to the endpoint that reached the service, the time, and what was made there: one
run or one key at most, however often the request was sent. The time is that of a clock on which only waits pass; a try
that stalls takes \`--request-timeout\` (30 s) more. The run ends as passed after 15 s. Exit codes: 0 passed or done, 5
the service answered with an error or broke the contract, 6 credentials refused, 7 not reached.

The fault meets \`run trigger\` when it creates the run, \`run wait\` (\`--max-attempts 6\`) at its second read, \`env list
--all\` on its second page, \`keys create\` when it creates the key. \`run wait\` stands for the wait of \`run trigger
--wait\` too: it is the same one.

## A fault that passes

One call fails (a burst: three; connections are refused for 1 s), and all is well after it. \`keys create\` has no
idempotency key in the interface, so it is sent again only where the first one surely did nothing: a lost reply is said, not
answered with a second key.

${once}
## A fault that stays

Every call from then on. Nothing is green that was not seen to be: a \`0\` here is a fault that takes nothing away.

${forGood}
What else is shown, and where: a thousand waits on faults drawn by seed, and \`kill -9\` at any point of \`run trigger
--wait\`, in \`test/long/reliability.test.ts\`; hostile replies, headers and \`Retry-After\` by the thousand in
\`test/reliability/fuzz.test.ts\`; the bounds in \`test/reliability/bounds.test.ts\`: a reply of at most 16 MiB, 500,000 values and 500
levels, 5 redirects within the origin, 4 tries, 2 minutes a call, 2,000 characters of an explanation.
`;

/** What holds for every cell, whatever the file says. */
function check(what: string, subject: Subject, played: Played): void {
  const { code, out, err, secrets, runs, keys } = played;
  expect([0, 3, 5, 6, 7], what).toContain(code);
  expect(runs, what).toBeLessThanOrEqual(subject.endpoint === 'run.trigger' ? 1 : 0);
  expect(keys, what).toBeLessThanOrEqual(subject.endpoint === 'keys.create' ? 1 : 0);
  for (const secret of secrets) expect(out + err, what).not.toContain(secret);
}

// `npm run docs:reliability` is this test with --update: it writes the file that it otherwise compares.
it('docs/reliability.md says what each command does about each fault', { timeout: 180_000 }, async () => {
  const rows: Record<Lasting, string[][]> = { once: [], 'for good': [] };
  for (const lasting of ['once', 'for good'] as const) {
    const row = async ([name, bare]: (typeof allFaults)[number]) => {
      const cells = await Promise.all(
        subjects.map(async (subject) => {
          const played = await cell(subject, bare, lasting);
          check(`${name}, ${lasting}: ${subject.name}`, subject, played);
          return shown(played, bare);
        }),
      );
      return [name, ...cells];
    };
    // Four faults at a time: most of their time is waited.
    for (let index = 0; index < allFaults.length; index += 4)
      rows[lasting].push(...(await Promise.all(allFaults.slice(index, index + 4).map(row))));
  }
  await expect(text(table(rows.once), table(rows['for good']))).toMatchFileSnapshot(
    '../../docs/reliability.md',
  );
});
