import { join } from 'node:path';
import type { SecureContext } from 'node:tls';
import type { HeaderNames } from '../../webhook/headers.ts';
import { verifySync } from '../../webhook/node.ts';
import type { Context } from '../context.ts';
import { type DeliveryRecord, eventName, printDelivery } from './display.ts';
import { type Forwarded, forward, pairsOf, type ReceivedRequest, type SenderResponse } from './forward.ts';
import { refusalOf, type Secrets } from './receiver.ts';
import type { limitsFor } from './verify.ts';

/** How long to wait for open deliveries after a stop signal. */
const graceMs = 1000;

export interface ListenOptions {
  secrets: Secrets;
  headerNames: HeaderNames;
  limits: ReturnType<typeof limitsFor>;
  target: URL | null;
  forwardUnverified: boolean;
  secureContext: SecureContext | undefined;
  folder: string | null;
}

type VerifiedDelivery = Pick<
  DeliveryRecord,
  'verdict' | 'timestamp' | 'ageSeconds' | 'secret' | 'secretIndex' | 'event'
>;

const unknown = { timestamp: null, ageSeconds: null, secret: null, secretIndex: null, event: null };

function verifyDelivery(
  { body, rawHeaders }: ReceivedRequest,
  options: ListenOptions,
  now: number,
): VerifiedDelivery {
  const { secrets, headerNames, limits } = options;
  if (secrets.keys.length === 0) return { ...unknown, verdict: 'not_verified' };
  try {
    const { timestamp, ageSeconds, secretIndex } = verifySync({
      body,
      headers: pairsOf(rawHeaders),
      headerNames,
      secrets: secrets.keys,
      ...limits,
      now: new Date(now),
    });
    const event = eventName(body);
    return { verdict: 'authentic', timestamp, ageSeconds, secret: secrets.kind, secretIndex, event };
  } catch (error) {
    return { ...unknown, verdict: refusalOf(error, 'webhooks listen').code };
  }
}

/** Formats a request as HTTP text for `readCapture`. A chunked body gets a Content-Length. */
function writeCapture({ method, target, httpVersion, rawHeaders, body }: ReceivedRequest): Uint8Array {
  const headers = pairsOf(rawHeaders).map(([name, value]) =>
    name.toLowerCase() === 'transfer-encoding' ? ['Content-Length', body.length] : [name, value],
  );
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${target} HTTP/${httpVersion}\r\n${lines.join('')}\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}

type Save = (received: ReceivedRequest, at: number) => string | null;

/** Saves deliveries as files whose names sort by time. Skips the names of existing files. */
function createSaver({ io, output }: Context, folder: string): Save {
  let sequence = 0;
  return (received, at) => {
    const content = writeCapture(received);
    const time = new Date(at).toISOString().replaceAll(/[-:]/g, '');
    for (;;) {
      sequence += 1;
      const path = join(folder, `${time}-${String(sequence).padStart(4, '0')}.http`);
      try {
        io.writeNewFile(path, content);
        return path;
      } catch (error) {
        const { code = 'unknown' } = error as NodeJS.ErrnoException;
        if (code === 'EEXIST') continue;
        void output.alert(
          `${output.paint('bad', 'not saved:')} cannot write ${output.excerpt(path)} (${code})`,
        );
        return null;
      }
    }
  };
}

export type Deliveries = ReturnType<typeof createDeliveries>;

/**
 * Handles each delivery: verifies, saves, forwards, responds, and then prints it.
 * @param onReaderGone is called when nothing reads the output any more
 */
export function createDeliveries(context: Context, options: ListenOptions, onReaderGone: () => void) {
  const { io, output } = context;
  const { target, forwardUnverified, secureContext } = options;
  const save = options.folder === null ? null : createSaver(context, options.folder);
  const stop = new AbortController();
  const forwarding = new Set<Promise<unknown>>();
  let printed = Promise.resolve();

  /** Prints lines in order, without delaying the response to the sender. */
  function print(record: DeliveryRecord): void {
    printed = printed.then(async () => {
      await printDelivery(record, output, io);
      if (!io.out.open) onReaderGone();
    });
  }

  async function forwardDelivery(received: ReceivedRequest, verdict: string): Promise<Forwarded | null> {
    if (target === null || (verdict !== 'authentic' && !forwardUnverified)) return null;
    const forwarded = forward(received, { target, signal: stop.signal, secureContext });
    forwarding.add(forwarded);
    return forwarded.finally(() => forwarding.delete(forwarded));
  }

  return {
    async handle(received: ReceivedRequest): Promise<SenderResponse> {
      const now = io.clock.now();
      const verification = verifyDelivery(received, options, now);
      const { verdict } = verification;
      const file = save?.(received, now) ?? null;
      const forwarded = await forwardDelivery(received, verdict);
      const isRefused = verdict !== 'authentic' && verdict !== 'not_verified';
      const response = forwarded?.response ?? { status: isRefused ? 401 : 204 };
      print({
        time: new Date(now).toISOString(),
        ...verification,
        bytes: received.body.length,
        forward: forwarded && { status: forwarded.status, fault: forwarded.fault },
        status: response.status,
        file,
      });
      return response;
    },

    /** Prints a delivery whose body is too large to be read. */
    tooLarge(status: number, bytes: number): void {
      const time = new Date(io.clock.now()).toISOString();
      print({ ...unknown, time, bytes, verdict: 'too_large', forward: null, status, file: null });
    },

    notPosted(method: string): void {
      const shown = output.excerpt(method, 20);
      void output.note(`refused the method ${shown} (HTTP 405): deliveries are POST requests`);
    },

    /** Aborts forwarding, and waits a moment for open deliveries and their output. */
    async close(): Promise<void> {
      stop.abort();
      const settled = Promise.allSettled(forwarding).then(() => printed);
      const grace = new AbortController();
      await Promise.race([settled, io.clock.sleep(graceMs, grace.signal).catch(() => {})]);
      grace.abort();
    },
  };
}
