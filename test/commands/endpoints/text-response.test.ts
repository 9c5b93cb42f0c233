import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EndpointName } from '../../../src/contract/index.ts';
import { asked, type Stage, stage } from '../../cli/harness.ts';

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

const respondWith = (text: string, endpoint?: EndpointName) =>
  on.mock.faults.add({ kind: 'reply', text, contentType: 'text/plain', ...(endpoint && { endpoint }) });

describe('a success with an undocumented body', () => {
  it.each<[EndpointName, string[]]>([
    ['run.cancel', ['run', 'cancel', 'run_1']],
    ['env.delete', ['env', 'delete', 'e1', '--yes']],
    ['webhooks.test', ['webhooks', 'test', 'w1']],
  ])('%s accepts a text that is not JSON, and sends one request', async (endpoint, argv) => {
    for (const text of ['OK\n', 'Cancelled: \u001b[31mred', '{"half":', '  ', 'a,b\r\n1,2']) {
      const before = asked(on.mock).filter((name) => name === endpoint).length;
      respondWith(text, endpoint);
      const { code, out } = await on.rungate(...argv, '--json');
      // `run cancel` prints nothing for an empty body.
      const none = endpoint === 'run.cancel' ? '' : null;
      expect({ code, out: out === '' ? '' : JSON.parse(out) }).toEqual({
        code: 0,
        out: text.trim() === '' ? none : text,
      });
      expect(asked(on.mock).filter((name) => name === endpoint)).toHaveLength(before + 1);
    }
  });
});
