import { type StopSignal, UsageError } from '../errors.ts';
import { exitCodeOfSignal, exitCodes } from '../exit.ts';
import type { Context } from './context.ts';
import { filled } from './globals.ts';
import { Deliveries, mostBytes, mostOpenBytes } from './webhooks-deliveries.ts';
import { type ListenFlags, type Rules, rulesOf } from './webhooks-rules.ts';
import { hasSecret } from './webhooks-secrets.ts';
import { type Receiving, receive } from './webhooks-server.ts';

/** Fixed, beside the mock's, so that a webhook can be registered once. */
const usualPort = 4020;

function portOf(text: string | undefined): number {
  if (text === undefined) return usualPort;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError(`--port: "${text}" is not a whole number from 0 to 65535`);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);
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
    mostOpenBytes,
    onPost: (received) => deliveries.answer(received),
    onTooLarge: (bytes) => deliveries.refused('too_large', 413, bytes),
    onBusy: (bytes) => deliveries.refused('too_many', 503, bytes),
    onOther: (method) =>
      void output.note(`a ${output.excerpt(method, 20)} was answered with 405: deliveries are POSTs`),
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
