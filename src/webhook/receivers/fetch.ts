import { CollectedBytes } from '../../collected-bytes.ts';
import { verify } from '../web.ts';
import { type Checks, deliver, maxBytesOf, notRaw, refuseDeclared, telling, tooLarge } from './delivery.ts';
import { type Delivery, type ReceiveOptions, WebhookReceiveError } from './public.ts';

export * from './public.ts';

/** What is used of a `Request`. */
export interface FetchRequest {
  readonly headers: { get(name: string): string | null; forEach: unknown };
  readonly bodyUsed: boolean;
  readonly body: { readonly locked: boolean; getReader(): FetchBodyReader } | null;
}

/** What is used of a body's reader. */
export interface FetchBodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<unknown>;
}

const how =
  'hand over the request before anything calls json(), text() or formData() on it; in Hono, c.req.raw before c.req.json() or a validator';

async function readAll(reader: FetchBodyReader, maxBytes: number): Promise<Uint8Array> {
  const body = new CollectedBytes(maxBytes);
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw new WebhookReceiveError('body_incomplete', 'the body ended before it was whole', error);
    });
    if (done || value === undefined) return new Uint8Array(body.bytes());
    if (!body.add(value)) {
      // The sender may go on sending: nobody waits for that.
      reader.cancel().catch(() => undefined);
      throw tooLarge(maxBytes);
    }
  }
}

/**
 * Reads and verifies a `Request` of the Fetch API: Workers, Deno, Bun, Hono (`c.req.raw`), route handlers of Next.
 * The body is read once and not cloned; afterwards it is in the delivery alone.
 * @throws WebhookVerificationError, or WebhookReceiveError when the body could not be read
 */
export async function receive(request: FetchRequest, options: ReceiveOptions): Promise<Delivery> {
  return telling(options, () => read(request, options));
}

async function read(request: FetchRequest, options: Checks): Promise<Delivery> {
  const maxBytes = maxBytesOf(options);
  const { body, bodyUsed, headers } = request;
  if (bodyUsed || body?.locked) throw notRaw(how);
  refuseDeclared(headers.get('content-length'), maxBytes);
  const bytes = body === null ? new Uint8Array() : await readAll(body.getReader(), maxBytes);
  return deliver(verify, headers, bytes, options);
}
