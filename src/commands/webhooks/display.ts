import { jsonLimits, jsonSize } from '../../client/json-text.ts';
import type { Io } from '../../host/io.ts';
import { renderJson } from '../../output/json.ts';
import type { Output } from '../../output/output.ts';
import { renderTsv } from '../../output/table.ts';
import { excerpt, sanitize } from '../../sanitize.ts';

/** One delivery, as it is shown. */
export interface Shown {
  /** When it came, RFC 3339. */
  time: string;
  /** What it is about, where it is authentic and its JSON says so. */
  event: string | null;
  bytes: number;
  /** `authentic`, `not_verified` without a secret, `too_large`, `too_many` at once, or why it is not authentic. */
  verdict: string;
  timestamp: string | null;
  ageSeconds: number | null;
  secret: 'webhook' | 'tenant' | null;
  secretIndex: number | null;
  /** What the target answered, where it was sent on. */
  forward: { status: number | null; fault: string | null } | null;
  /** What the sender got back. */
  status: number;
  /** Where it was kept. */
  file: string | null;
}

/** Names by which senders say what a delivery is about. */
const eventFields = ['event', 'type', 'eventType'] as const;

/** The event that a body names. Only for bodies that are authentic: nothing else is decoded. */
export function eventOf(body: Uint8Array): string | null {
  const text = new TextDecoder().decode(body);
  if (jsonSize(text).values > jsonLimits.values) return null;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof json !== 'object' || json === null) return null;
  const named = eventFields.map((name) => (json as Record<string, unknown>)[name]);
  const event = named.find((value) => typeof value === 'string' && value !== '');
  return typeof event === 'string' ? event : null;
}

function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}

function forwarded({ forward }: Shown): string {
  return forward === null ? '-' : String(forward.status ?? forward.fault);
}

function row(shown: Shown): string[] {
  const { time, event, bytes, verdict, file } = shown;
  const cells = [time, excerpt(event ?? '-', 80), String(bytes), verdict, forwarded(shown)];
  return file === null ? cells : [...cells, file];
}

function line(shown: Shown, paint: Output['paint']): string {
  const tone = shown.verdict === 'authentic' ? 'good' : shown.verdict === 'not_verified' ? 'warn' : 'bad';
  const parts = [
    shown.time.slice(11, 19),
    excerpt(shown.event ?? '-', 80).padEnd(24),
    size(shown.bytes).padStart(9),
    paint(tone, shown.verdict.padEnd(12)),
    shown.forward === null ? `answered ${shown.status}` : `→ ${sanitize(forwarded(shown))}`,
  ];
  return `${parts.join('  ')}${shown.file === null ? '' : `  ${sanitize(shown.file)}`}\n`;
}

/** Prints a delivery as a line: of JSON, of tab-separated values, or for a person. */
export function printDelivery(given: Shown, output: Output, io: Pick<Io, 'out'>): Promise<void> {
  const shown = { ...given, event: given.event === null ? null : output.redact(given.event) };
  const { format } = output;
  if (format === 'json' || format === 'ndjson')
    return output.lines(renderJson({ schemaVersion: 1, ...shown }, 0));
  if (format === 'plain') return output.result(renderTsv({ head: [], rows: [row(shown)] }));
  return output.result(line(shown, io.out.isTTY ? output.paint : (_tone, text) => text));
}
