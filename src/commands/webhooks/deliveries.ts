import { join } from 'node:path';
import type { SecureContext } from 'node:tls';
import { renderJson, wantsJson } from '../../output/json.ts';
import { renderTsv } from '../../output/table.ts';
import { excerpt } from '../../sanitize.ts';
import type { HeaderNames } from '../../webhook/headers.ts';
import { verifySync } from '../../webhook/node.ts';
import type { Context } from '../context.ts';
import { type CapturedRequest, writeCapture } from './capture.ts';
import { type Answer, forward } from './forward.ts';
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

interface Verification {
  /** `authentic`, `not_verified` without a secret, or the code of the verification error. */
  readonly verdict: string;
  readonly timestamp: string | null;
  readonly ageSeconds: number | null;
  readonly secret: 'webhook' | 'tenant' | null;
  readonly secretIndex: number | null;
  /** The event in the JSON of an authentic body. */
  readonly event: string | null;
}

interface DeliveryRecord extends Verification {
  /** The time of receipt, RFC 3339. */
  readonly time: string;
  readonly bytes: number;
  /** The target's response, or why there was none; null if the delivery was not forwarded. */
  readonly forward: { readonly status: number | null; readonly fault: string | null } | null;
  readonly status: number;
  readonly file: string | null;
}

const unknown = { timestamp: null, ageSeconds: null, secret: null, secretIndex: null, event: null };

/** Returns the event of an authentic body. Never call it for other bodies, which must not be decoded. */
function eventName(body: Uint8Array): string | null {
  try {
    const { event, type, eventType } = JSON.parse(new TextDecoder().decode(body));
    return [event, type, eventType].find((name) => typeof name === 'string' && name !== '') ?? null;
  } catch {
    return null;
  }
}

function verifyDelivery(
  { body, headers }: CapturedRequest,
  { secrets, headerNames, limits }: ListenOptions,
  now: number,
): Verification {
  if (secrets.keys.length === 0) return { ...unknown, verdict: 'not_verified' };
  const input = { body, headers, headerNames, secrets: secrets.keys, ...limits, now: new Date(now) };
  try {
    const { timestamp, ageSeconds, secretIndex } = verifySync(input);
    const event = eventName(body);
    return { verdict: 'authentic', timestamp, ageSeconds, secret: secrets.kind, secretIndex, event };
  } catch (error) {
    return { ...unknown, verdict: refusalOf(error, 'webhooks listen').code };
  }
}

function rowOf({ time, event, bytes, verdict, forward, file }: DeliveryRecord): string {
  const target = forward === null ? '-' : String(forward.status ?? forward.fault);
  const row = [time, excerpt(event ?? '-', 80), String(bytes), verdict, target];
  return renderTsv({ head: [], rows: [file === null ? row : [...row, file]] });
}

/** Returns a function that saves a delivery as a new file, whose name sorts by time, and returns its path. */
function saverIn({ io, output }: Context, folder: string) {
  let saved = 0;
  return (received: CapturedRequest, time: string): string | null => {
    for (;;) {
      saved += 1;
      const name = `${time.replaceAll(/[-:]/g, '')}-${String(saved).padStart(4, '0')}.http`;
      const path = join(folder, name);
      try {
        io.writeNewFile(path, writeCapture(received));
        return path;
      } catch (error) {
        const { code = 'unknown' } = error as NodeJS.ErrnoException;
        if (code === 'EEXIST') continue;
        const problem = `cannot write ${output.excerpt(path)} (${code})`;
        void output.alert(`${output.paint('bad', 'not saved:')} ${problem}`);
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
  const { target, folder, forwardUnverified, secureContext } = options;
  const stop = new AbortController();
  const forwarding = new Set<Promise<unknown>>();
  const save = folder === null ? () => null : saverIn(context, folder);
  let printed = Promise.resolve();

  /** Prints in order, and without delaying the response to the sender. */
  function print(given: DeliveryRecord): void {
    const record = { ...given, event: given.event && output.redact(given.event) };
    printed = printed.then(async () => {
      if (wantsJson(output)) await output.lines(renderJson({ schemaVersion: 1, ...record }, 0));
      else await output.result(rowOf(record));
      if (!io.out.open) onReaderGone();
    });
  }

  async function forwardDelivery(received: CapturedRequest, verdict: string): Promise<Answer | null> {
    if (target === null || (verdict !== 'authentic' && !forwardUnverified)) return null;
    const forwarded = forward(received, { target, signal: stop.signal, secureContext });
    forwarding.add(forwarded);
    return forwarded.finally(() => forwarding.delete(forwarded));
  }

  return {
    async handle(received: CapturedRequest): Promise<Answer> {
      const now = io.clock.now();
      const time = new Date(now).toISOString();
      const verification = verifyDelivery(received, options, now);
      const { verdict } = verification;
      const file = save(received, time);
      const forwarded = await forwardDelivery(received, verdict);
      const isRefused = verdict !== 'authentic' && verdict !== 'not_verified';
      const answer = forwarded ?? { status: isRefused ? 401 : 204 };
      const { status, fault = null } = answer;
      const sent = forwarded && { status: fault === null ? status : null, fault };
      print({ time, ...verification, bytes: received.body.length, forward: sent, status, file });
      return answer;
    },

    /** Prints a delivery whose body is too large to be read. */
    tooLarge(status: number, bytes: number): void {
      const time = new Date(io.clock.now()).toISOString();
      print({ time, verdict: 'too_large', ...unknown, bytes, forward: null, status, file: null });
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
