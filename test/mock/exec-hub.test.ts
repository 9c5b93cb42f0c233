import { expect, it } from 'vitest';
import { memoryIo } from '../cli/harness.ts';
import { main } from '../cli/main.ts';

it('a command of mock exec gets no hub and no headers of the service, even if the environment has them', async () => {
  const { io } = memoryIo({
    env: {
      RUNGATE_HUB_URL: 'https://hub.example',
      RUNGATE_HUB_TOKEN: 'x',
      RUNGATE_HUB_TOKEN_FILE: undefined,
      RUNGATE_HEADERS: 'X-Gate: x',
    },
  });
  const seen: Readonly<Record<string, string | undefined>>[] = [];
  const run = async (_command: readonly string[], env: (typeof seen)[number]) => {
    seen.push(env);
    return { code: 0, signal: null };
  };
  expect(await main(['mock', 'exec', '--', 'gate'], { ...io, run })).toBe(0);
  expect(seen[0]?.RUNGATE_HUB_URL).toBe('none');
  expect(seen[0]?.RUNGATE_HUB_TOKEN).toBe(undefined);
  expect(seen[0]?.RUNGATE_HEADERS).toBe(undefined);
});
