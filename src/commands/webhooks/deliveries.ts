import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { SecureContext } from 'node:tls';
import type { HeaderNames } from '../../webhook/headers.ts';
import { verifySync } from '../../webhook/node.ts';
import type { Context } from '../context.ts';
import { eventOf, printDelivery, type Shown } from './display.ts';
import { type Answer, type Forwarded, forward, pairsOf, type Received } from './forward.ts';
import { refusalOf, type Secrets } from './secrets.ts';
import type { limitsFor } from './verify.ts';

/** How long a delivery that is under way may keep us when we are stopped. */
const graceMs = 1000;

/** What holds for every delivery. */
export interface Rules {
  secrets: Secrets;
  headerNames: HeaderNames;
  limits: ReturnType<typeof limitsFor>;
  target: URL | null;
  forwardUnverified: boolean;
  secureContext: SecureContext | undefined;
  folder: string | null;
}

type Verdict = Pick<Shown, 'verdict' | 'timestamp' | 'ageSeconds' | 'secret' | 'secretIndex' | 'event'>;

const unknown = { timestamp: null, ageSeconds: null, secret: null, secretIndex: null, event: null };

function judgeDelivery({ body, rawHeaders }: Received, rules: Rules, now: number): Verdict {
  const { secrets, headerNames, limits } = rules;
  if (secrets.keys.length === 0) return { ...unknown, verdict: 'not_verified' };
  try {
    const { timestamp, ageSeconds, secretIndex } = verifySync({
      body,
      headers: rawHeaders,
      headerNames,
      secrets: secrets.keys,
      ...limits,
      now: new Date(now),
    });
    const event = eventOf(body);
    return { verdict: 'authentic', timestamp, ageSeconds, secret: secrets.kind, secretIndex, event };
  } catch (error) {
    return { ...unknown, verdict: refusalOf(error, 'webhooks listen').code };
  }
}

/** The request as HTTP text: what `readCapture` reads. A body that came in chunks is written as one. */
function writeCapture({ method, target, httpVersion, rawHeaders, body }: Received): Uint8Array {
  const headers = pairsOf(rawHeaders);
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${method} ${target} HTTP/${httpVersion}\r\n${lines.join('')}\r\n`, 'latin1');
  const isChunked = headers.some(
    ([name, value]) => name.toLowerCase() === 'transfer-encoding' && /\bchunked\s*$/i.test(value),
  );
  if (!isChunked) return Buffer.concat([head, body]);
  const chunk =
    body.length === 0 ? [] : [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')];
  return Buffer.concat([head, ...chunk, Buffer.from('0\r\n\r\n')]);
}

/** What anybody may send is kept up to here: it must not fill the disk. */
const mostUnverified = { files: 1000, bytes: 100 * 1024 * 1024 } as const;

type Keep = (received: Received, at: number, isAuthentic: boolean) => string | null;

/** Keeps deliveries as files that sort by time; a name that is taken is passed over. */
function keeper({ io, output }: Context, folder: string): Keep {
  let sequence = 0;
  let said = false;
  const unverified = { files: 0, bytes: 0 };
  const hasRoom = (bytes: number) => {
    unverified.files += 1;
    unverified.bytes += bytes;
    if (unverified.files <= mostUnverified.files && unverified.bytes <= mostUnverified.bytes) return true;
    if (!said) {
      const most = `${mostUnverified.files} files or ${mostUnverified.bytes / 1024 ** 2} MiB`;
      void output.alert(
        `${output.paint('bad', 'not kept:')} ${most} of deliveries that are not verified; only authentic ones are kept from now on`,
      );
    }
    said = true;
    return false;
  };
  return (received, at, isAuthentic) => {
    const content = writeCapture(received);
    if (!isAuthentic && !hasRoom(content.length)) return null;
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
          `${output.paint('bad', 'not kept:')} ${output.excerpt(path)} cannot be written (${code})`,
        );
        return null;
      }
    }
  };
}

/** An IPv4 address as an IPv6 socket shows it is the same address. */
function addressOf(address = '', port = 0): string {
  return `${address.replace(/^::ffff:(?=\d)/i, '')} ${port}`;
}

/** What is done with each delivery: judged, kept, sent on, answered, and then shown. */
export class Deliveries {
  readonly #context: Context;
  readonly #rules: Rules;
  readonly #keep: Keep | null;
  /** The connections to the target that are open, by their address on this side. */
  readonly #outgoing = new Set<string>();
  readonly #stop = new AbortController();
  readonly #open = new Set<Promise<unknown>>();
  #lines: Promise<void> = Promise.resolve();
  readonly #onReaderGone: () => void;

  constructor(context: Context, rules: Rules, onReaderGone: () => void) {
    this.#context = context;
    this.#rules = rules;
    this.#keep = rules.folder === null ? null : keeper(context, rules.folder);
    this.#onReaderGone = onReaderGone;
  }

  /** One line after another, and none of them keeps a sender waiting. */
  #show(shown: Shown): void {
    const { io, output } = this.#context;
    this.#lines = this.#lines.then(async () => {
      await printDelivery(shown, output, io);
      if (!io.out.open) this.#onReaderGone();
    });
  }

  async #forwarded(received: Received, verdict: string): Promise<Forwarded | null> {
    const { target, forwardUnverified, secureContext } = this.#rules;
    if (target === null || (verdict !== 'authentic' && !forwardUnverified)) return null;
    const { signal } = this.#stop;
    const onConnection = (socket: Socket) => {
      const address = addressOf(socket.localAddress, socket.localPort);
      this.#outgoing.add(address);
      socket.once('close', () => this.#outgoing.delete(address));
    };
    const answer = forward(received, { target, signal, secureContext, onConnection });
    this.#open.add(answer);
    return answer.finally(() => this.#open.delete(answer));
  }

  /** Whether a connection that came in is one of those to the target, however its address is spelled. */
  isOwn({ remoteAddress, remotePort }: Socket): boolean {
    return this.#outgoing.has(addressOf(remoteAddress, remotePort));
  }

  async answer(received: Received): Promise<Answer> {
    const at = this.#context.io.clock.now();
    const verdict = judgeDelivery(received, this.#rules, at);
    const file = this.#keep?.(received, at, verdict.verdict === 'authentic') ?? null;
    const forwarded = await this.#forwarded(received, verdict.verdict);
    const isRefused = verdict.verdict !== 'authentic' && verdict.verdict !== 'not_verified';
    const answer = forwarded?.answer ?? { status: isRefused ? 401 : 204 };
    this.#show({
      time: new Date(at).toISOString(),
      ...verdict,
      bytes: received.body.length,
      forward: forwarded === null ? null : { status: forwarded.status, fault: forwarded.fault },
      status: answer.status,
      file,
    });
    return answer;
  }

  /** Shows a delivery that was not read to its end. */
  refused(verdict: 'too_large' | 'too_many', status: number, bytes: number): void {
    const time = new Date(this.#context.io.clock.now()).toISOString();
    this.#show({ ...unknown, time, bytes, verdict, forward: null, status, file: null });
  }

  /** Tells of a request over a connection to the target. */
  looped(): void {
    const { output } = this.#context;
    void output.alert(`${output.paint('bad', 'not forwarded:')} --forward-to leads back here (508)`);
  }

  /** Tells of a request that is not a POST. */
  notPosted(method: string): void {
    const { output } = this.#context;
    void output.note(`a ${output.excerpt(method, 20)} was answered with 405: deliveries are POSTs`);
  }

  /** Ends what is under way; a reader who does not read cannot keep us. */
  async close(): Promise<void> {
    this.#stop.abort();
    const settled = Promise.allSettled(this.#open).then(() => this.#lines);
    const grace = new AbortController();
    await Promise.race([settled, this.#context.io.clock.sleep(graceMs, grace.signal).catch(() => {})]);
    grace.abort();
  }
}
