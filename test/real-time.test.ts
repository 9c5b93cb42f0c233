import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/** The files that may use a timer, a shell's `sleep` or a stopwatch, and why no event or fake clock would do. */
const exempt: Readonly<Record<string, string>> = {
  'clock.test.ts': 'tests the real clock',
  'docs/picture-scene.ts': 'takes a picture of a real terminal at intervals',
  'docs/shell-script.ts': 'a shell that waits for a program has no events',
  'e2e/built.test.ts': 'a late error, a slow reader and a closed reader, in separate processes',
  'e2e/completion.test.ts': 'a process that rungate must not wait for',
  'fake-clock.ts': 'a long sleep waits for requests that hang until their real timeout',
  'host/write-file.test.ts': 'slow readers of a pipe while the event loop is blocked',
  'host/children.test.ts': 'a child that never ends',
  'host/read-file.test.ts': 'slow writers of a pipe while the event loop is blocked',
  'long/first-steps.test.ts': 'a shell that waits for a program has no events',
  'long/selftest.test.ts': 'children that never end; two simultaneous signals would be merged',
  'reliability/scene.ts': 'ends a real request timeout early',
  'transport/send.test.ts': 'a body that drips',
  'until.ts': 'waits for a condition',
};

const use = /\bset(?:Timeout|Interval)\(|node:timers|\bperformance\.now\(|\bsleep [\d.]+/;

it('only the listed tests use real time', () => {
  const root = fileURLToPath(new URL('.', import.meta.url));
  const found = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter(
      (name) => /\.(?:ts|mjs)$/.test(name) && !name.includes('node_modules') && name !== 'real-time.test.ts',
    )
    .filter((name) => use.test(readFileSync(join(root, name), 'utf8')));
  expect(found.toSorted()).toEqual(Object.keys(exempt).toSorted());
});
