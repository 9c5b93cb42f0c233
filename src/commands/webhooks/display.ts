import type { Io } from '../../host/io.ts';
import { isTooLarge } from '../../json/tokens.ts';
import { renderJson, wantsJson } from '../../output/json.ts';
import type { Output } from '../../output/output.ts';
import { renderTsv } from '../../output/table.ts';
import { excerpt, sanitize } from '../../sanitize.ts';

/** A received delivery, as the output shows it. */
export interface DeliveryRecord {
  /** The time of receipt, RFC 3339. */
  readonly time: string;
  /** The event in the JSON of an authentic body. */
  readonly event: string | null;
  readonly bytes: number;
  /** `authentic`, `not_verified` without a secret, `too_large`, or the code of the verification error. */
  readonly verdict: string;
  readonly timestamp: string | null;
  readonly ageSeconds: number | null;
  readonly secret: 'webhook' | 'tenant' | null;
  readonly secretIndex: number | null;
  /** The target's response, or why there was none; null if the delivery was not forwarded. */
  readonly forward: { readonly status: number | null; readonly fault: string | null } | null;
  /** The status code that the sender received. */
  readonly status: number;
  /** The path of the saved file. */
  readonly file: string | null;
}

/** The fields in which senders name the event. */
const eventFields = ['event', 'type', 'eventType'] as const;

/** Returns the event of an authentic body. Never call it for other bodies, which must not be decoded. */
export function eventName(body: Uint8Array): string | null {
  const text = new TextDecoder().decode(body);
  if (isTooLarge(text)) return null;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof json !== 'object' || json === null) return null;
  const candidates = eventFields.map((name) => (json as Record<string, unknown>)[name]);
  const event = candidates.find((value) => typeof value === 'string' && value !== '');
  return typeof event === 'string' ? event : null;
}

function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}

function targetStatus({ forward }: DeliveryRecord): string {
  return forward === null ? '-' : String(forward.status ?? forward.fault);
}

function logRow(record: DeliveryRecord): string[] {
  const { time, event, bytes, verdict, file } = record;
  const cells = [time, excerpt(event ?? '-', 80), String(bytes), verdict, targetStatus(record)];
  return file === null ? cells : [...cells, file];
}

function terminalLine(record: DeliveryRecord, paint: Output['paint']): string {
  const tone = record.verdict === 'authentic' ? 'good' : record.verdict === 'not_verified' ? 'warn' : 'bad';
  const parts = [
    record.time.slice(11, 19),
    excerpt(record.event ?? '-', 80).padEnd(24),
    size(record.bytes).padStart(9),
    paint(tone, record.verdict.padEnd(12)),
    record.forward === null ? `responded ${record.status}` : `→ ${sanitize(targetStatus(record))}`,
  ];
  return `${parts.join('  ')}${record.file === null ? '' : `  ${sanitize(record.file)}`}\n`;
}

/** Prints a delivery as one line of JSON, of tab-separated values, or of text for a person. */
export function printDelivery(input: DeliveryRecord, output: Output, io: Pick<Io, 'out'>): Promise<void> {
  const record = { ...input, event: input.event === null ? null : output.redact(input.event) };
  const { format } = output;
  if (wantsJson(output)) return output.lines(renderJson({ schemaVersion: 1, ...record }, 0));
  if (format === 'plain') return output.result(renderTsv({ head: [], rows: [logRow(record)] }));
  return output.result(terminalLine(record, io.out.isTTY ? output.paint : (_tone, text) => text));
}
