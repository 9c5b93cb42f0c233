import { exitCodes } from '../../exit.ts';
import { signSync } from '../../webhook/node.ts';
import { filled } from '../options.ts';
import { readInput } from '../read-input.ts';
import { command, rowOptions } from '../spec.ts';
import { deliveryHeaders, missingSecret, secretsNote, signingSecrets } from './receiver.ts';
import { timeOf } from './verify.ts';

export const webhooksSign = command({
  name: 'sign',
  summary: 'sign a body as the service does',
  description:
    'Sign a body as the service does, and print the two headers for curl -H @-. Signs with the tenant secret if it is set, otherwise with the first webhook secret.',
  options: {
    '--body-file <file>': 'file with the raw body; - for standard input (default)',
    '--timestamp <t>': 'RFC 3339 time with a zone (default now)',
    ...rowOptions('webhooks'),
  },
  notes: secretsNote,
  examples: ['rungate webhooks sign --body-file event.json'],
  async run(context, _args, flags) {
    const { io, output, settings } = context;
    const bodyFile = filled('--body-file', flags.bodyFile) ?? '-';
    const timestamp = flags.timestamp ?? new Date(io.clock.now()).toISOString();
    timeOf('--timestamp', timestamp);
    const [key] = signingSecrets(settings).keys;
    if (key === undefined) throw missingSecret('webhooks sign');
    const body = await readInput(io, '--body-file', bodyFile);
    const { signature } = signSync({ body, secret: key, timestamp });
    const names = deliveryHeaders(settings);
    const headers = { [names.timestamp]: timestamp, [names.signature]: signature };
    // Header lines even on a terminal, for `curl -H @-`.
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
    await output.data({ schemaVersion: 1, timestamp, signature, headers }, lines.join(''));
    return exitCodes.ok;
  },
});
