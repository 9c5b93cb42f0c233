import type { SecureContext } from 'node:tls';
import { type StopSignal, UsageError } from '../../errors.ts';
import { exitCodeOfSignal, exitCodes } from '../../exit.ts';
import { echoed } from '../../suggest.ts';
import { isLoopback } from '../../transport/address.ts';
import { readCa } from '../ca-file.ts';
import type { Context } from '../context.ts';
import { filled } from '../global-options.ts';
import { Deliveries, type Rules } from './deliveries.ts';
import { parseTarget } from './forward.ts';
import { type HeaderNameFlags, headerNamesOf, missingSecret, secretsOf } from './secrets.ts';
import { receive } from './server.ts';
import { limitsFor } from './verify.ts';

export interface ListenFlags extends HeaderNameFlags {
  port?: string;
  host?: string;
  forwardTo?: string;
  forwardUnverified?: boolean;
  save?: string;
  tolerance?: string;
}

/** Fixed, beside the mock's, so that a webhook can be registered once. */
const usualPort = 4020;

function portOf(text: string | undefined): number {
  if (text === undefined) return usualPort;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError(`--port: ${echoed(text)} is not a whole number from 0 to 65535`);
}

async function trustOf({ io, settings }: Context, target: URL | null): Promise<SecureContext | undefined> {
  const { caFile } = settings;
  if (caFile === undefined) return undefined;
  const caPem = await readCa(io, caFile);
  if (target?.protocol !== 'https:') return undefined;
  const { trustAlso } = await import('../../transport/trust.ts');
  return trustAlso(caPem);
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

/** @throws UsageError or ConfigError before anything is received */
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
  if (target !== null && secrets.keys.length === 0 && !forwardUnverified) {
    const error = missingSecret(`webhooks listen --forward-to: only what is authentic is forwarded`);
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

async function announce({ output }: Context, rules: Rules, host: string, url: string): Promise<void> {
  const warn = output.paint('warn', 'warning:');
  if (!isLoopback(host.includes(':') ? `[${host}]` : host.toLowerCase())) {
    await output.alert(`${warn} listening on ${host}: others than this machine can reach it, in plain HTTP`);
  }
  if (rules.secrets.keys.length === 0) {
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
  const { io } = context;
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
  const receiving = await receive(host, port, deliveries, fail);
  const unsubscribe = io.onStop(end);
  try {
    await announce(context, rules, host, receiving.url);
    const signal = await ended;
    return signal === null ? exitCodes.ok : exitCodeOfSignal(signal);
  } finally {
    await receiving.close();
    await deliveries.close();
    unsubscribe();
  }
}
