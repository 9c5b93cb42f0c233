import { join } from 'node:path';
import type { SecureContext } from 'node:tls';
import { ConfigError, type StopSignal, UsageError } from '../errors.ts';
import { exitCodeOfSignal, exitCodes } from '../exit.ts';
import { excerpt } from '../sanitize.ts';
import type { HeaderNames } from '../webhook/headers.ts';
import { verifySync } from '../webhook/node.ts';
import type { Context } from './context.ts';
import { filled } from './globals.ts';
import { type Received, writeCapture } from './webhooks-capture.ts';
import { type Forwarded, type ForwardOptions, forward, parseTarget } from './webhooks-forward.ts';
import {
  type HeaderNameFlags,
  hasSecret,
  headerNamesOf,
  missingSecret,
  refusalOf,
  type Secrets,
  secretsOf,
} from './webhooks-secrets.ts';
import { type Answer, type Receiving, receive } from './webhooks-server.ts';
import { eventOf, renderDelivery, type Shown } from './webhooks-shown.ts';
import { limitsFor } from './webhooks-verify.ts';

export interface ListenFlags extends HeaderNameFlags {
  port?: string;
  host?: string;
  forwardTo?: string;
  forwardUnverified?: boolean;
  save?: string;
  tolerance?: string;
}

const command = 'webhooks listen';

/** Fixed, beside the mock's, so that a webhook can be registered once. */
const usualPort = 4020;
const mostBytes = 10 * 1024 * 1024;
const forwardTimeoutMs = 30_000;
/** How long a delivery that is under way may keep us when we are stopped. */
const graceMs = 1000;

function portOf(text: string | undefined): number {
  if (text === undefined) return usualPort;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError(`--port: "${text}" is not a whole number from 0 to 65535`);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** What holds for every delivery. */
interface Rules {
  secrets: Secrets;
  headerNames: Partial<HeaderNames>;
  limits: ReturnType<typeof limitsFor>;
  target: URL | null;
  forwardUnverified: boolean;
  secureContext: SecureContext | undefined;
  folder: string | null;
}

async function trustOf({ io, settings }: Context, target: URL | null): Promise<SecureContext | undefined> {
  const path = settings.caFile?.value;
  if (path === undefined || target?.protocol !== 'https:') return undefined;
  const { trustAlso } = await import('../http/trust.ts');
  try {
    return await trustAlso(new TextDecoder().decode(io.readFile(path)));
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    throw new ConfigError(`the file of certificate authorities cannot be read: ${path}`, {
      hint: 'check --ca-file',
      cause,
    });
  }
}

function prepareFolder({ io }: Context, folder: string): string {
  try {
    io.makeFolder(folder);
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new UsageError(`--save: the folder ${folder} cannot be made (${code})`, {
      hint: 'name a folder that you may write to',
      cause,
    });
  }
  return folder;
}

async function rulesOf(context: Context, flags: ListenFlags): Promise<Rules> {
  const forwardTo = filled('--forward-to', flags.forwardTo);
  const folder = filled('--save', flags.save);
  const target = forwardTo === undefined ? null : parseTarget(forwardTo);
  const secrets = secretsOf(context.settings);
  const forwardUnverified = flags.forwardUnverified === true;
  if (forwardUnverified && target === null) {
    throw new UsageError('--forward-unverified: nothing is forwarded', { hint: 'add --forward-to <url>' });
  }
  const limits = limitsFor(flags.tolerance ?? '5m');
  if (target !== null && !hasSecret(secrets) && !forwardUnverified) {
    const error = missingSecret(`${command} --forward-to: only what is authentic is forwarded`);
    error.hint = `${error.hint}; --forward-unverified forwards everything`;
    throw error;
  }
  return {
    secrets,
    headerNames: headerNamesOf(context.settings),
    limits,
    target,
    forwardUnverified,
    secureContext: await trustOf(context, target),
    folder: folder === undefined ? null : prepareFolder(context, folder),
  };
}

type Verdict = Pick<Shown, 'verdict' | 'timestamp' | 'ageSeconds' | 'secret' | 'secretIndex' | 'event'>;

const unknown = { timestamp: null, ageSeconds: null, secret: null, secretIndex: null, event: null };

function judgeDelivery({ body, rawHeaders }: Received, rules: Rules, now: number): Verdict {
  const { secrets, headerNames, limits } = rules;
  if (!hasSecret(secrets)) return { ...unknown, verdict: 'not_verified' };
  try {
    const { timestamp, ageSeconds, secretIndex } = verifySync({
      body,
      headers: rawHeaders,
      headerNames,
      secrets: [...secrets.secrets],
      tenantSecret: secrets.tenantSecret,
      ...limits,
      now: new Date(now),
    });
    const secret = secrets.tenantSecret === undefined ? 'webhook' : 'tenant';
    return { verdict: 'authentic', timestamp, ageSeconds, secret, secretIndex, event: eventOf(body) };
  } catch (error) {
    return { ...unknown, verdict: refusalOf(error, command).code };
  }
}

/** Keeps deliveries as files that sort by time; a name that is taken is passed over. */
function keeper({ io, output }: Context, folder: string): (received: Received, at: number) => string | null {
  let sequence = 0;
  return (received, at) => {
    const time = new Date(at).toISOString().replaceAll(/[-:]/g, '');
    for (;;) {
      sequence += 1;
      const path = join(folder, `${time}-${String(sequence).padStart(4, '0')}.http`);
      try {
        io.writeNewFile(path, writeCapture(received));
        return path;
      } catch (error) {
        const { code = 'unknown' } = error as NodeJS.ErrnoException;
        if (code === 'EEXIST') continue;
        void output.alert(`${output.paint('bad', 'not kept:')} ${excerpt(path)} cannot be written (${code})`);
        return null;
      }
    }
  };
}

/** What is done with each delivery: judged, kept, sent on, answered, and then shown. */
class Deliveries {
  readonly #context: Context;
  readonly #rules: Rules;
  readonly #keep: ((received: Received, at: number) => string | null) | null;
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
  show(shown: Shown): void {
    const { io, output } = this.#context;
    this.#lines = this.#lines.then(async () => {
      await output.result(renderDelivery(shown, output, io));
      if (!io.out.open) this.#onReaderGone();
    });
  }

  async #forwarded(received: Received, verdict: string): Promise<Forwarded | null> {
    const { target, forwardUnverified, secureContext } = this.#rules;
    if (target === null || (verdict !== 'authentic' && !forwardUnverified)) return null;
    const { signal } = this.#stop;
    const options: ForwardOptions = { target, timeoutMs: forwardTimeoutMs, mostBytes, signal, secureContext };
    const answer = forward(received, options);
    this.#open.add(answer);
    return answer.finally(() => this.#open.delete(answer));
  }

  async answer(received: Received): Promise<Answer> {
    const at = this.#context.io.clock.now();
    const verdict = judgeDelivery(received, this.#rules, at);
    const file = this.#keep?.(received, at) ?? null;
    const forwarded = await this.#forwarded(received, verdict.verdict);
    const isRefused = verdict.verdict !== 'authentic' && verdict.verdict !== 'not_verified';
    const answer = forwarded?.answer ?? { status: isRefused ? 401 : 204 };
    this.show({
      time: new Date(at).toISOString(),
      ...verdict,
      bytes: received.body.length,
      forward: forwarded === null ? null : { status: forwarded.status, fault: forwarded.fault },
      status: answer.status,
      file,
    });
    return answer;
  }

  tooLarge(bytes: number): void {
    const time = new Date(this.#context.io.clock.now()).toISOString();
    this.show({ ...unknown, time, bytes, verdict: 'too_large', forward: null, status: 413, file: null });
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

function isSelf(target: URL, host: string, port: number): boolean {
  const targetPort = Number(target.port || (target.protocol === 'https:' ? 443 : 80));
  const sameHost =
    target.hostname === host || (isLoopback(target.hostname) && (isLoopback(host) || isAny(host)));
  return target.protocol === 'http:' && targetPort === port && sameHost;
}

function isAny(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

async function announce({ output }: Context, rules: Rules, host: string, url: string): Promise<void> {
  const warn = output.paint('warn', 'warning:');
  if (!isLoopback(host)) {
    await output.alert(`${warn} listening on ${host}: others than this machine can reach it, in plain HTTP`);
  }
  if (!hasSecret(rules.secrets)) {
    await output.alert(
      `${warn} NOT VERIFIED: no webhook secret is set, so everybody who reaches this port can send anything; set RUNGATE_WEBHOOK_SECRET or RUNGATE_TENANT_SECRET`,
    );
  }
  if (rules.forwardUnverified) {
    await output.alert(`${warn} what is not authentic is forwarded too: the target must verify it`);
  }
  await output.note(`listening at ${url}; stop it with Ctrl-C`);
}

/** `rungate webhooks listen`: receives, verifies, shows, keeps and forwards until it is stopped. */
export async function listenCommand(context: Context, flags: ListenFlags): Promise<number> {
  const { io, output } = context;
  const port = portOf(flags.port);
  const host = filled('--host', flags.host) ?? '127.0.0.1';
  const rules = await rulesOf(context, flags);
  let end: (signal: StopSignal | null) => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const ended = new Promise<StopSignal | null>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  const deliveries = new Deliveries(context, rules, () => end(null));
  const receiving: Receiving = await receive({
    host,
    port,
    mostBytes,
    onPost: (received) => deliveries.answer(received),
    onTooLarge: (bytes) => deliveries.tooLarge(bytes),
    onOther: (method) =>
      void output.note(`a ${excerpt(method, 20)} was answered with 405: deliveries are POSTs`),
    onFault: fail,
  });
  const unsubscribe = io.onStop(end);
  try {
    if (rules.target !== null && isSelf(rules.target, host, receiving.port)) {
      throw new UsageError('--forward-to is this very port: deliveries would go round for ever', {
        hint: 'give the address of the receiver, or another --port',
      });
    }
    await announce(context, rules, host, receiving.url);
    const signal = await ended;
    return signal === null ? exitCodes.ok : exitCodeOfSignal(signal);
  } finally {
    await receiving.close();
    await deliveries.close();
    unsubscribe();
  }
}
