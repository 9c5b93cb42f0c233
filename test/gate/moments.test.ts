import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { decide, type Event } from '../../src/gate/decide.ts';
import type { PlanState } from '../../src/gate/state.ts';
import { todo } from '../../src/gate/todo.ts';
import { freshPlan, pause, running } from './checker/world.ts';

const failed = { ...running, kind: 'ended', state: 'completed', failed: 2, blocked: 0 } as const;
const read = (reading: typeof running | typeof failed): Event[] => [
  { type: 'reading', gate: 'a', run: 'run_1' },
  { type: 'read', gate: 'a', run: 'run_1', reading: reading as typeof running, ...pause },
];
const created = { appUrl: null, replayed: false, limitedMs: 0 } as const;

/** The moments of a gate with one retry: the seconds since its begin, and the events since the last moment. */
const moments: readonly (readonly [title: string, seconds: number, events: readonly Event[]])[] = [
  ['The gate begins', 0, [{ type: 'time' }]],
  [
    'The request that creates the run is sent next',
    1,
    [
      { type: 'granted', gate: 'a' },
      { type: 'sending', gate: 'a' },
    ],
  ],
  [
    'A read has shown the run in progress',
    2,
    [{ type: 'created', gate: 'a', key: 'key-a', run: 'run_1', ...created }, ...read(running)],
  ],
  ['The run has failed, and is retried with the next key', 12, read(failed)],
  [
    'A person stops the gate',
    13,
    [
      { type: 'granted', gate: 'a' },
      { type: 'stop', by: 'SIGINT' },
    ],
  ],
];

/** Returns the members that have another value than before, at any depth. */
function changes(before: unknown, after: unknown): unknown {
  if (typeof before !== 'object' || typeof after !== 'object' || !before || !after || Array.isArray(after))
    return after;
  return Object.fromEntries(
    Object.entries(after).flatMap(([name, value]) => {
      const old = (before as Record<string, unknown>)[name];
      return JSON.stringify(old) === JSON.stringify(value) ? [] : [[name, changes(old, value)]];
    }),
  );
}

/** Names the key of the retry, which is a hash. */
function inWords(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/\b[0-9a-f]{64}\b/g, 'a hash of key-a and run_1');
}

// `npm run docs:reliability` writes the page with --update.
it('a gate has the states that docs/project/architecture.md shows', async () => {
  const begin = 1_768_478_400_000;
  let plan: PlanState = freshPlan({ attempts: 1, keys: 'reported', rules: { retries: 1 }, depth: 0 }, 1);
  const parts = moments.map(([title, seconds, events], index) => {
    const before = plan.gates.a;
    for (const event of events) plan = decide(plan, event, begin + seconds * 1000);
    const shown = index === 0 ? plan.gates.a : changes(before, plan.gates.a);
    const work = todo(plan).map(({ type }) => `\`${type}\``);
    const asks = work.length === 0 ? 'nothing' : work.join(', ');
    return `**${index + 1}. ${title}.** \`todo()\` asks for: ${asks}.\n\n\`\`\`json\n${inWords(shown)}\n\`\`\`\n`;
  });
  const page = await readFile(new URL('../../docs/project/architecture.md', import.meta.url), 'utf8');
  const part = /(?<=<!-- moments -->\n\n).*(?=\n<!-- end of moments -->)/s;
  expect(page).toMatch(part);
  await expect(page.replace(part, () => parts.join('\n'))).toMatchFileSnapshot(
    '../../docs/project/architecture.md',
  );
});
