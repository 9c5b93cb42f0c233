import type { Command } from 'commander';
import { webhooks } from '../../contract/webhooks.ts';
import { parseTimestamp } from '../../date-time.ts';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { wantsJson } from '../../output/json.ts';
import { signSync } from '../../webhook/node.ts';
import { type Bind, examples } from '../binding.ts';
import type { Context } from '../context.ts';
import { deriveCommands } from '../endpoints/derive.ts';
import { addOptions, filled } from '../options.ts';
import { readInput } from './delivery.ts';
import { listenCommand } from './listen.ts';
import { deliveryHeaders, missingSecret, signingSecrets, tunnelTo } from './receiver.ts';
import { verifyDeliveryCommand } from './verify.ts';

interface SignFlags {
  bodyFile?: string;
  timestamp?: string;
}

/** `rungate webhooks sign`: prints the two headers of a delivery as the service would send them. */
async function signCommand(context: Context, flags: SignFlags): Promise<number> {
  const { io, output, settings } = context;
  const bodyFile = filled('--body-file', flags.bodyFile) ?? '-';
  const timestamp = flags.timestamp ?? new Date(io.clock.now()).toISOString();
  if (parseTimestamp(timestamp) === null) {
    throw new UsageError(`--timestamp: "${timestamp}" is not a time with a zone`, {
      hint: 'write an RFC 3339 time such as 2026-01-15T12:00:00.000Z, or omit the option for the current time',
    });
  }
  const [key] = signingSecrets(settings).keys;
  if (key === undefined) throw missingSecret('webhooks sign');
  const body = await readInput(io, '--body-file', bodyFile);
  const { signature } = signSync({ body, secret: key, timestamp });
  const names = deliveryHeaders(settings);
  const headers = { [names.timestamp]: timestamp, [names.signature]: signature };
  if (wantsJson(output)) {
    const data = { schemaVersion: 1, timestamp, signature, headers };
    await output.data(data, { head: [], rows: [] });
  } else {
    // Header lines even on a terminal, for `curl -H @-`.
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
    await output.result(lines.join(''));
  }
  return exitCodes.ok;
}

const secrets = `
Secrets: set RUNGATE_WEBHOOK_SECRET or RUNGATE_WEBHOOK_SECRET_FILE (several
secrets: one per line). If the tenant secret signs, set RUNGATE_TENANT_SECRET or
RUNGATE_TENANT_SECRET_FILE instead. No option takes a secret.`;

function bindSigningCommand<Flags>(
  command: Command,
  bind: Bind,
  example: string,
  run: (context: Context, flags: Flags) => Promise<number>,
  decides = false,
): void {
  examples(addOptions(command, 'webhooks').addHelpText('after', secrets), example);
  bind(command, { decides, run: (context, _args, flags: Flags) => run(context, flags) });
}

function defineVerify(group: Command, bind: Bind): void {
  const command = group
    .command('verify')
    .summary('verify a saved delivery offline')
    .description('Verify a saved delivery: exit 0 if it is authentic, 1 if not. Reads the body as raw bytes.')
    .optionsGroup('Options:')
    .option('--body-file <file>', 'file with the raw body; - for standard input (default)')
    .option('--timestamp <t>', 'value of the timestamp header')
    .option('--signature <s>', 'value of the signature header')
    .option('--headers-file <file>', 'file with both headers, as lines or as JSON')
    .option('--request-file <file>', 'file with a complete captured request (headers and body)')
    .option('--tolerance <duration>', 'maximum age of the delivery (default: any age)')
    .option('--at <time>', 'time to compare the timestamp with (default now)')
    .option('--diagnose', 'on a mismatch, look for the usual mistakes');
  const example = 'rungate webhooks verify --request-file capture.http --diagnose';
  bindSigningCommand(command, bind, example, verifyDeliveryCommand, true);
}

function defineSign(group: Command, bind: Bind): void {
  const command = group
    .command('sign')
    .summary('sign a body as the service does')
    .description(
      'Sign a body as the service does, and print the two headers for curl -H @-. The tenant secret signs if it is set, otherwise the first webhook secret.',
    )
    .optionsGroup('Options:')
    .option('--body-file <file>', 'file with the raw body; - for standard input (default)')
    .option('--timestamp <t>', 'RFC 3339 time with a zone (default now)');
  bindSigningCommand(command, bind, 'rungate webhooks sign --body-file event.json', signCommand);
}

const tunnel = `
From another machine: a service elsewhere cannot reach 127.0.0.1. Open a tunnel
in another terminal, and register the https URL that it prints:
  ${tunnelTo('http://127.0.0.1:4020')}
  rungate webhooks create --field url=https://name.trycloudflare.com`;

function defineListen(group: Command, bind: Bind): void {
  const command = group
    .command('listen')
    .summary('receive deliveries, verify and show them')
    .description(
      'Receive deliveries until stopped: verify, show, forward and save each one. A delivery that is not authentic gets HTTP 401 and is not forwarded.',
    )
    .optionsGroup('Options:')
    .option('--port <port>', 'port to listen on (default 4020; 0 for any free port)')
    .option('--host <host>', 'address to listen on (default 127.0.0.1)')
    .option('--forward-to <url>', 'URL to forward deliveries to; its status goes to the sender')
    .option('--forward-unverified', 'also forward deliveries that are not authentic')
    .option('--save <folder>', 'folder to save deliveries in, for webhooks verify --request-file')
    .option('--tolerance <duration>', 'maximum age of a delivery (default 5m)');
  const example = 'rungate webhooks listen --save deliveries  # until Ctrl-C';
  command.addHelpText('after', tunnel);
  bindSigningCommand(command, bind, example, listenCommand);
}

export function defineWebhooks(group: Command, bind: Bind): void {
  deriveCommands(group, bind, webhooks);
  defineVerify(group, bind);
  defineSign(group, bind);
  defineListen(group, bind);
}
