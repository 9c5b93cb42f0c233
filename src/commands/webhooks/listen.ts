import { type StopSignal, UsageError } from '../../errors.ts';
import { exitCodeOfSignal, exitCodes } from '../../exit.ts';
import { secureContextOf } from '../config/certificates.ts';
import type { Context } from '../context.ts';
import { filled } from '../options.ts';
import { command, type FlagsOf, rowOptions } from '../spec.ts';
import { createDeliveries, type ListenOptions } from './deliveries.ts';
import { forwardTarget } from './forward.ts';
import {
  deliveryHeaders,
  isLocal,
  listenHost,
  listenPort,
  missingSecret,
  portAndHost,
  secretsNote,
  signingSecrets,
  tunnelTo,
  warnIfReachable,
} from './receiver.ts';
import { receiveDeliveries } from './server.ts';
import { limitsFor } from './verify.ts';

const options = {
  ...portAndHost,
  '--forward-to <url>': 'URL to forward deliveries to; the sender gets its status code',
  '--forward-unverified': 'also forward deliveries that are not authentic',
  '--save <folder>': 'folder to save deliveries in, for webhooks verify --request-file',
  '--tolerance <duration>': 'maximum age of a delivery (default 5m)',
  ...rowOptions('webhooks'),
};

function prepareFolder({ io }: Context, folder: string): string {
  try {
    io.makeFolder(folder);
    return folder;
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new UsageError(`--save: cannot create the folder ${folder} (${code})`, {
      hint: 'choose a folder that you may write to',
      cause,
    });
  }
}

/** @throws UsageError or ConfigError before anything is received */
async function listenOptionsOf(context: Context, flags: FlagsOf<typeof options>): Promise<ListenOptions> {
  const forwardTo = filled('--forward-to', flags.forwardTo);
  const folder = filled('--save', flags.save);
  const target = forwardTo === undefined ? null : forwardTarget(forwardTo);
  const secrets = signingSecrets(context.settings);
  const forwardUnverified = flags.forwardUnverified === true;
  const limits = limitsFor(flags.tolerance ?? '5m');
  if (forwardUnverified && target === null) {
    throw new UsageError('--forward-unverified has no effect without --forward-to', {
      hint: 'add --forward-to <url>',
    });
  }
  if (target !== null && secrets.keys.length === 0 && !forwardUnverified) {
    const error = missingSecret('webhooks listen --forward-to: only authentic deliveries are forwarded');
    error.hint = `${error.hint}; or forward all deliveries unverified with --forward-unverified`;
    throw error;
  }
  return {
    secrets,
    headerNames: deliveryHeaders(context.settings),
    limits,
    target,
    forwardUnverified,
    secureContext: await secureContextOf(context.io, context.settings),
    folder: folder === undefined ? null : prepareFolder(context, folder),
  };
}

async function announce(
  { output }: Context,
  options: ListenOptions,
  host: string,
  url: string,
): Promise<void> {
  await warnIfReachable(host, output);
  if (options.secrets.keys.length === 0) {
    await output.warn(
      'NOT VERIFIED: no webhook secret is set, so anyone who can reach this port can forge deliveries; set RUNGATE_WEBHOOK_SECRET or RUNGATE_TENANT_SECRET',
    );
  }
  if (options.forwardUnverified) {
    await output.warn('deliveries that are not authentic are forwarded too: the target must verify them');
  }
  await output.note(`listening at ${url}; stop it with Ctrl-C`);
  if (isLocal(host))
    await output.note(
      `only this machine can reach it; for a service elsewhere, open a tunnel, such as ${tunnelTo(url)}, and register its URL`,
    );
}

const tunnel = `A service on another machine cannot reach 127.0.0.1. Open a tunnel
in another terminal, and register the https URL that it prints:
  ${tunnelTo('http://127.0.0.1:4020')}
  rungate webhooks create --field url=https://name.trycloudflare.com`;

export const webhooksListen = command({
  name: 'listen',
  summary: 'receive deliveries, verify and show them',
  description:
    'Receive deliveries until stopped: verify, show, forward and save each one. A delivery that is not authentic gets HTTP 401 and is not forwarded.',
  options,
  notes: `${tunnel}\n\n${secretsNote}`,
  examples: ['rungate webhooks listen --save deliveries  # until Ctrl-C'],
  async run(context, _args, flags) {
    const { io } = context;
    const port = listenPort(flags.port);
    const host = listenHost(flags.host);
    const wanted = await listenOptionsOf(context, flags);
    let end: (signal: StopSignal | null) => void = () => {};
    let fail: (error: unknown) => void = () => {};
    const ended = new Promise<StopSignal | null>((resolve, reject) => {
      end = resolve;
      fail = reject;
    });
    const deliveries = createDeliveries(context, wanted, () => end(null));
    const receiving = await receiveDeliveries(host, port, deliveries, fail);
    const unsubscribe = io.onStop(end);
    try {
      await announce(context, wanted, host, receiving.url);
      const signal = await ended;
      return signal === null ? exitCodes.ok : exitCodeOfSignal(signal);
    } finally {
      await receiving.close();
      await deliveries.close();
      unsubscribe();
    }
  },
});
