import { parseTimestamp } from '../../date-time.ts';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { wantsJson } from '../../output/json.ts';
import { hashBody } from '../../webhook/hmac.ts';
import type { Context } from '../context.ts';
import { filled } from '../options.ts';
import { streamInput } from './delivery.ts';
import { deliveryHeaders, missingSecret, signingSecrets } from './receiver.ts';

interface SignFlags {
  bodyFile?: string;
  timestamp?: string;
}

/** `rungate webhooks sign`: prints the two headers of a delivery as the service would send them. */
export async function signCommand(context: Context, flags: SignFlags): Promise<number> {
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
  const { macs } = await hashBody(timestamp, streamInput(io, '--body-file', bodyFile), [key]);
  const signature = `sha256=${Buffer.from(macs[0] ?? []).toString('hex')}`;
  const names = deliveryHeaders(settings);
  const headers = { [names.timestamp]: timestamp, [names.signature]: signature };
  if (wantsJson(output)) {
    await output.data({ schemaVersion: 1, timestamp, signature, headers }, { head: [], rows: [] });
  } else {
    // Header lines even on a terminal, for `curl -H @-`.
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
    await output.result(lines.join(''));
  }
  return exitCodes.ok;
}
