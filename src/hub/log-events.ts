import type { RequestClass } from '../gate/fleet/protocol.ts';

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
