import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Stage, stage } from '../../cli/harness.ts';

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

const cancelled = async (response: unknown) => {
  on.mock.faults.add({ kind: 'reply', text: JSON.stringify(response) });
  const { code, err } = await on.rungate('run', 'cancel', 'r-1');
  expect(code).toBe(0);
  expect(on.mock.requests).toHaveLength(1);
  return err;
};

describe('run cancel sends one request and reports the state in the response:', () => {
  it.each([
    [
      'a run that had ended',
      { state: 'completed', failed: 0, blocked: 0 },
      'run r-1 had already completed, so there was nothing to cancel\n',
    ],
    [
      'a run that had ended, without counts',
      { runId: 'r-1', state: 'completed' },
      'run r-1 had already completed, so there was nothing to cancel\n',
    ],
    ['a cancelled run', { state: 'cancelled', failed: 1, blocked: 0 }, 'run r-1 is cancelled\n'],
    [
      'a run in progress',
      { state: 'in_progress' },
      'the service accepted the request to cancel run r-1; its state is in_progress\n',
    ],
    [
      'another state',
      { state: 'stopping' },
      'the service accepted the request to cancel run r-1; its state is stopping\n',
    ],
    ['no state', { ok: true }, 'the service accepted the request to cancel run r-1\n'],
    [
      'the state of another run',
      { runId: 'r-2', state: 'completed' },
      'the service accepted the request to cancel run r-1\n',
    ],
  ])('%s', async (_what, response, note) => {
    expect(await cancelled(response)).toBe(note);
  });
});
