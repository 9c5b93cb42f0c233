import type { IncomingMessage, ServerResponse } from 'node:http';
import { CollectedBytes } from '../collected-bytes.ts';
import type { RequestClass } from '../gate/fleet/protocol.ts';
import { parsedJson } from '../json/text.ts';

const mostBodyBytes = 256 * 1024;

/** An error that the sender is to blame for. */
export class BadRequest extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
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
  | { type: 'refused-request'; status: number; path: string }
  | { type: 'fault'; error: unknown };
