import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { receive, statusOf } from '../../../src/webhook/receivers/fetch.ts';
import type { ReceiveOptions } from '../../../src/webhook/receivers/public.ts';
import { expectNotRaw, listen, post, type Receiver, started, testReceiver } from './suite.ts';

/** Starts a Hono app on a socket. */
function startWith(before?: (context: Context) => unknown) {
  return async (options: ReceiveOptions): Promise<Receiver> => {
    const errors: unknown[] = [];
    const app = new Hono();
    app.post('/hook', async (context) => {
      await before?.(context);
      try {
        return new Response(Buffer.from((await receive(context.req.raw, options)).bytes));
      } catch (error) {
        if (statusOf(error) === 500) errors.push(error);
        return context.body(null, statusOf(error));
      }
    });
    const { url, close } = await listen(getRequestListener(app.fetch));
    return { send: (body, headers) => post(url, body, headers), errors, close };
  };
}

/** Calls `receive` directly with a Request, as in Workers, Deno, Bun and Next. */
async function startBare(options: ReceiveOptions): Promise<Receiver> {
  const errors: unknown[] = [];
  return {
    async send(body, headers) {
      const request = new Request('https://example.test/hook', {
        method: 'POST',
        headers: headers.map(([name, value]): [string, string] => [name, value]),
        body: Buffer.from(body),
      });
      try {
        const { bytes } = await receive(request, options);
        expect(request.bodyUsed).toBe(true);
        return { status: 200, body: Buffer.from(bytes) };
      } catch (error) {
        if (statusOf(error) === 500) errors.push(error);
        return { status: statusOf(error), body: Buffer.alloc(0) };
      }
    },
    errors,
    close: async () => undefined,
  };
}

testReceiver('Hono', startWith());
testReceiver('a bare Request', startBare);

describe('the Fetch API', () => {
  test.each<[string, (context: Context) => unknown]>([
    ['json()', (context) => context.req.json()],
    ['a reader', (context) => context.req.raw.body?.getReader()],
  ])('gives body_not_raw with a remedy after %s', async (_what, before) => {
    const receiver = await started(startWith(before));
    await expectNotRaw(receiver, /c\.req\.raw before c\.req\.json\(\)/);
    await receiver.close();
  });

  test('stops reading an endless body at maxBytes', async () => {
    let cancelled = false;
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(1000)),
      cancel: () => {
        cancelled = true;
      },
    });
    const request = new Request('https://example.test/', { method: 'POST', body, duplex: 'half' });
    await expect(receive(request, { secrets: 'k', maxBytes: 5000 })).rejects.toMatchObject({
      code: 'body_too_large',
    });
    expect(cancelled).toBe(true);
  });

  test('gives body_incomplete if the body breaks off', async () => {
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) });
    const request = new Request('https://example.test/', { method: 'POST', body, duplex: 'half' });
    await expect(receive(request, { secrets: 'k' })).rejects.toMatchObject({
      code: 'body_incomplete',
      cause: new Error('reset'),
    });
  });
});
