import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cli } from '../../cli/harness.ts';

const env = { RUNGATE_WEBHOOK_SECRET: 'whsec' };

/** Valid and invalid lines of a captured request. */
const line = fc.oneof(
  fc.constantFrom(
    'POST /hook HTTP/1.1',
    'Content-Length: 5',
    'Content-Length: -1',
    'Content-Length: 99999999999999999999',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip, chunked',
    'X-Service-Timestamp: 2026-01-15T12:00:00Z',
    `X-Service-Signature: sha256=${'0'.repeat(64)}`,
    '5',
    'ffffffff',
    '0',
    '',
    'hello',
  ),
  fc.string({ unit: 'binary', maxLength: 30 }),
);
const request = fc.tuple(fc.array(line, { maxLength: 14 }), fc.constantFrom('\n', '\r\n', '\r'));

it('exits with 1 or 64 for any captured request, and never prints the secret', async () => {
  await fc.assert(
    fc.asyncProperty(request, fc.boolean(), async ([lines, end], asHeaders) => {
      const files = { capture: lines.join(end) };
      const flag = asHeaders ? '--headers-file' : '--request-file';
      const result = await cli(['webhooks', 'verify', flag, 'capture', '--json'], { env, files, stdin: 'x' });
      expect([1, 64]).toContain(result.code);
      expect(result.out + result.err).not.toContain('whsec');
    }),
    { numRuns: 60 },
  );
});
