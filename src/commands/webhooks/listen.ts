import { BlockList, isIP } from 'node:net';
import { type StopSignal, UsageError } from '../../errors.ts';
import { exitCodeOfSignal, exitCodes } from '../../exit.ts';
import { echoed } from '../../suggest.ts';
import type { Context } from '../context.ts';
import { filled } from '../global-options.ts';
import { Deliveries, mostBytes, mostOpenBytes } from './deliveries.ts';
import { type ListenFlags, type Rules, rulesOf } from './rules.ts';
import { hasSecret } from './secrets.ts';
import { type Receiving, receive } from './server.ts';

/** Fixed, beside the mock's, so that a webhook can be registered once. */
const usualPort = 4020;

function portOf(text: string | undefined): number {
  if (text === undefined) return usualPort;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError(`--port: ${echoed(text)} is not a whole number from 0 to 65535`);
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');
/** As an address to listen on every one of this machine; as a target, this machine. */
const any = new BlockList();
any.addAddress('0.0.0.0');
any.addAddress('::', 'ipv6');

/** Whether a host is an address of a list, an IPv4 address written as IPv6 too. */
function isIn(list: BlockList, host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4');
}

const isLoopback = (host: string) => /^localhost\.?$/i.test(host) || isIn(loopback, host);

/** Whether the target is this listener by its address. A name that leads here is found out by the first delivery. */
function isSelf(target: URL, host: string, port: number): boolean {
  const targetPort = Number(target.port || (target.protocol === 'https:' ? 443 : 80));
  const isHere = (name: string) => isLoopback(name) || isIn(any, name);
  const sameHost = target.hostname === host || (isHere(target.hostname) && isHere(host));
  return target.protocol === 'http:' && targetPort === port && sameHost;
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
    isOwn: (socket) => deliveries.isOwn(socket),
    onLoop: () =>
      void output.alert(`${output.paint('bad', 'not forwarded:')} --forward-to leads back here (508)`),
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
