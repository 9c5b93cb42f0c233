import type { Command } from 'commander';
import { webhooks } from '../../contract/webhooks.ts';
import { type Bind, examples } from '../binding.ts';
import type { Context } from '../context.ts';
import { deriveCommands } from '../endpoints/derive.ts';
import type { ListenFlags } from './listen.ts';
import { type HeaderNameFlags, headerNameSettings } from './secrets.ts';
import type { SignFlags } from './sign.ts';
import type { VerifyFlags } from './verify.ts';

const secrets = `
Secrets: RUNGATE_WEBHOOK_SECRET or RUNGATE_WEBHOOK_SECRET_FILE (several: one in
a line), or RUNGATE_TENANT_SECRET or RUNGATE_TENANT_SECRET_FILE where the tenant
signs. Never on the command line.
`;

/** Adds what the commands about signatures share, and says what they run. */
function bindSigned<Flags extends HeaderNameFlags>(
  command: Command,
  bind: Bind,
  example: string,
  run: (context: Context, flags: Flags) => Promise<number>,
): void {
  command
    .option('--timestamp-header <name>', "the vendor's name for X-Service-Timestamp")
    .option('--signature-header <name>', "the vendor's name for X-Service-Signature")
    .addHelpText('after', secrets);
  examples(command, example);
  bind(command, {
    settings: async (flags: Flags) => headerNameSettings(flags),
    run: async (context, _args, flags: Flags) => run(context, flags),
  });
}

function defineVerify(group: Command, bind: Bind): void {
  const command = group
    .command('verify')
    .summary('verify a delivery that was kept, offline')
    .description(
      'Verify a delivery that was kept: exit 0 when it is authentic, 1 when it is not. The body is read as raw bytes.',
    )
    .optionsGroup('Options:')
    .option('--body-file <file>', 'the raw body; - for standard input (default)')
    .option('--timestamp <t>', 'value of the timestamp header')
    .option('--signature <s>', 'value of the signature header')
    .option('--headers-file <file>', 'the headers instead: lines, output of curl -D or -v, JSON')
    .option('--request-file <file>', 'a whole captured request instead: headers and body')
    .option('--tolerance <duration>', 'refuse what is older (default: any age)')
    .option('--at <time>', 'the time to compare with (default now)')
    .option('--diagnose', 'on a mismatch try the usual mistakes, and name the one it is');
  const example = 'rungate webhooks verify --request-file capture.http --diagnose';
  bindSigned(command, bind, example, async (context, flags: VerifyFlags) =>
    (await import('./verify.ts')).verifyCommand(context, flags),
  );
}

function defineSign(group: Command, bind: Bind): void {
  const command = group
    .command('sign')
    .summary('sign a body as the service does')
    .description(
      'Sign a body as the service does, and print the two headers: for curl -H @-. The tenant secret signs where there is one, else the first webhook secret.',
    )
    .optionsGroup('Options:')
    .option('--body-file <file>', 'the raw body; - for standard input (default)')
    .option('--timestamp <t>', 'an RFC 3339 time with a zone (default now)');
  bindSigned(
    command,
    bind,
    'rungate webhooks sign --body-file event.json',
    async (context, flags: SignFlags) => (await import('./sign.ts')).signCommand(context, flags),
  );
}

function defineListen(group: Command, bind: Bind): void {
  const command = group
    .command('listen')
    .summary('receive deliveries, verify and show them')
    .description(
      'Receive deliveries until stopped: verify each, show it, forward it unchanged, keep it. What is not authentic is answered with 401 and not forwarded.',
    )
    .optionsGroup('Options:')
    .option('--port <port>', 'port to listen on (default 4020; 0 for any that is free)')
    .option('--host <host>', 'address to listen on (default 127.0.0.1)')
    .option('--forward-to <url>', 'send each on to this URL, and answer as it answers')
    .option('--forward-unverified', 'send on what is not authentic too')
    .option('--save <folder>', 'keep each as a file for webhooks verify --request-file')
    .option('--tolerance <duration>', 'refuse what is older (default 5m)');
  const example = 'rungate webhooks listen --save deliveries  # until Ctrl-C';
  bindSigned(command, bind, example, async (context, flags: ListenFlags) =>
    (await import('./listen.ts')).listenCommand(context, flags),
  );
}

/** `rungate webhooks …` */
export function defineWebhooks(group: Command, bind: Bind): void {
  deriveCommands(group, bind, webhooks);
  defineVerify(group, bind);
  defineSign(group, bind);
  defineListen(group, bind);
}
