import type { IncomingMessage, ServerResponse } from 'node:http';
import { CollectedBytes } from '../collected-bytes.ts';
import type { RequestClass } from '../gate/fleet/protocol.ts';
import { parsedJson } from '../json/text.ts';

export type Route = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

const mostBodyBytes = 256 * 1024;

/** An error that the sender is to blame for. */
export class BadRequest extends Error {
  readonly status: number;
  /** Further fields of the response. */
  readonly fields: Readonly<Record<string, string>>;
  /** Seconds after which the same request may succeed. */
  readonly retryAfter: number | null;

  constructor(
    status: number,
    message: string,
    fields: Readonly<Record<string, string>> = {},
    retryAfter: number | null = null,
  ) {
    super(message);
    this.status = status;
    this.fields = fields;
    this.retryAfter = retryAfter;
  }
}

export function sendJson(response: ServerResponse, status: number, body?: unknown): void {
  if (body === undefined) {
    response.writeHead(status).end();
    return;
  }
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
}

export async function readJsonBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const body = new CollectedBytes(mostBodyBytes);
  for await (const part of request as AsyncIterable<Uint8Array>)
    if (!body.add(part)) throw new BadRequest(413, `the body has more than ${mostBodyBytes} bytes`);
  const json = parsedJson(new TextDecoder().decode(body.bytes()));
  if (typeof json === 'object' && json !== null) return json as Record<string, unknown>;
  throw new BadRequest(400, 'the body is not a JSON object');
}

export const milliseconds = (value: unknown, most: number) =>
  typeof value === 'number' && value >= 0 ? Math.min(value, most) : 0;

/** An event of the hub, for its log and its metrics. */
export type HubLogEvent =
  | { type: 'delivery'; ids: number; replay: boolean; ageSeconds: number }
  | { type: 'refused-delivery'; code: string; status: number }
  | { type: 'grant'; class: RequestClass; waitedMs: number; gate: string | null; runId: string | null }
  | { type: 'reported'; reads: number; creates: number }
  | { type: 'limited'; retryAfterMs: number }
  | { type: 'stream'; runs: number; open: number }
  | { type: 'wake'; runId: string }
  /** `startsJobs`: whether this hub can start its job. */
  | { type: 'gate-kept'; id: string; repository: string; startsJobs: boolean }
  | { type: 'gate-replaced'; id: string; by: string }
  | { type: 'gate-done'; id: string }
  /** Its commit status may still be pending. */
  | { type: 'gate-forgotten'; id: string; repository: string }
  | { type: 'job-started'; id: string; repository: string }
  | { type: 'start-failed'; id: string; repository: string; error: unknown }
  | { type: 'refused-request'; status: number; path: string }
  | { type: 'fault'; error: unknown };
