import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/** The files that may use a timer, a shell's `sleep` or a stopwatch: how often, and why no event or fake clock would do. */
const exempt: Readonly<Record<string, readonly [uses: number, reason: string]>> = {
  'clock.test.ts': [2, 'tests the real clock'],
  'commands/selftest/selftest.test.ts': [1, 'a script that is read, not run'],
  'docs/picture-scene.ts': [1, 'takes a picture of a real terminal at intervals'],
  'docs/shell-script.ts': [2, 'a shell that waits for a program has no events'],
  'e2e/built.test.ts': [3, 'a late error, a slow reader and a closed reader, in separate processes'],
  'e2e/completion.test.ts': [1, 'a process that rungate must not wait for'],
  'e2e/live.test.ts': [1, 'a warning during the animation, from inside the process'],
  'host/write-file.test.ts': [3, 'slow readers of a pipe while the event loop is blocked'],
  'host/children.test.ts': [1, 'a child that never ends'],
  'host/read-file.test.ts': [4, 'slow writers of a pipe while the event loop is blocked'],
  'long/first-steps.test.ts': [1, 'a shell that waits for a program has no events'],
  'long/preview-kills.test.ts': [1, 'kills the process at any moment'],
  'long/reliability.test.ts': [2, 'names the hanging case; kills the process at any moment'],
  'long/selftest.test.ts': [8, 'children that never end; two simultaneous signals would be merged'],
  'reliability/scene.ts': [1, 'ends a real request timeout early'],
  'transport/send.test.ts': [1, 'a body that drips'],
  'until.ts': [1, 'waits for a condition'],
};

const use = /\bset(?:Timeout|Interval)\(|node:timers|\bperformance\.now\(|\bsleep [\d.]+/g;

it('only the listed tests use real time', () => {
  const root = fileURLToPath(new URL('.', import.meta.url));
  const found: Record<string, number> = {};
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(?:ts|mjs)$/.test(name) || name.includes('node_modules') || name === 'real-time.test.ts')
      continue;
    const uses = readFileSync(join(root, name), 'utf8').match(use)?.length ?? 0;
    if (uses > 0) found[name] = uses;
  }
  const expected = Object.entries(exempt).map(([name, [uses]]) => [name, uses]);
  expect(found).toEqual(Object.fromEntries(expected));
});
