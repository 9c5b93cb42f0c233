import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { gate } from '../../src/index.ts';
import { fakeClock } from '../fake-clock.ts';

test('neither the report of gate() nor its journal contains a key that the service sends back', async () => {
  const apiKey = 'rg_Zk3J9aQ7Lm2XvT5bNc8RfW1dHs6Gy4PeUo0Ki';
  const transport = {
    send: async ({ endpoint }: { endpoint: string }) => {
      const body = endpoint === 'run.trigger' ? { runId: apiKey } : { state: 'in_progress' };
      return {
        status: 200,
        headers: {},
        text: JSON.stringify({ ...body, appUrl: `https://x.test/${apiKey}` }),
      };
    },
    close: async () => {},
  };
  const folder = mkdtempSync(join(tmpdir(), 'rungate-library-'));
  const env = { RUNGATE_JOURNAL: join(folder, 'journal') };
  const trigger = { projectSlug: 'shop', processSlug: 'checkout' };
  try {
    const report = await gate({
      ...{ apiUrl: 'https://service.example.com', apiKey, transport, clock: fakeClock() },
      ...{ trigger, env, maxAttempts: 2 },
    });
    expect(report.gate).toBe('fail');
    expect(JSON.stringify(report)).not.toContain(apiKey);
    expect(readFileSync(env.RUNGATE_JOURNAL, 'utf8')).toContain('triggering');
    expect(readFileSync(env.RUNGATE_JOURNAL, 'utf8')).not.toContain(apiKey);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
