import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import { requestClasses } from '../gate/fleet/protocol.ts';
import { BadRequest, type HubLogEvent, milliseconds, readJsonBody, sendJson } from './http.ts';
import type { Hub } from './hub.ts';
import type { RequestLine } from './ledger.ts';
import { lineOf } from './scheduler.ts';

/** A request for a grant is held this long, then the gate asks again. */
const holdMs = 20_000;
/** A longer wait of a gate does not make its request more urgent. */
const longestWaitMs = 60 * 60_000;
/** The budget counts only those of the last minute. */
const agesOf = (value: unknown) =>
  Array.isArray(value) ? value.filter((age) => typeof age === 'number' && age >= 0) : [];
const textOf = (value: unknown) => (typeof value === 'string' ? value : null);

export type Granting = ReturnType<typeof createGranting>;

/** Returns the handlers of requests for grants, and of what gates report about their requests to the service. */
export function createGranting(hub: Hub, clock: Clock, log: (event: HubLogEvent) => void) {
  const closing = new AbortController();
  // Every request for a grant listens to it.
  setMaxListeners(0, closing.signal);
  const startedAt = clock.monotonic();
  /** When each line had its last grant: a gate that waits sees that the hub goes on. */
  const lastAt: Record<RequestLine, number> = { create: startedAt, read: startedAt, safety: startedAt };
  return {
    async grant(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const { class: kind, waitedMs, gate, runId } = await readJsonBody(request);
      const known = requestClasses.find((each) => each === kind);
      if (known === undefined) throw new BadRequest(400, `class must be one of ${requestClasses.join(', ')}`);
      const waited = milliseconds(waitedMs, longestWaitMs);
      const began = clock.monotonic();
      const over = new AbortController();
      const end = () => over.abort();
      response.once('close', end);
      closing.signal.addEventListener('abort', end, { once: true });
      if (closing.signal.aborted) end();
      clock.sleep(holdMs, over.signal).then(end, () => {});
      try {
        await hub.scheduler.grant({ class: known, waitedMs: waited }, over.signal);
        lastAt[lineOf(known)] = clock.monotonic();
        const total = waited + clock.monotonic() - began;
        log({ type: 'grant', class: known, waitedMs: total, gate: textOf(gate), runId: textOf(runId) });
        sendJson(response, 200, { granted: true });
      } catch (error) {
        if (!over.signal.aborted) throw error;
        const idleMs = Math.round(clock.monotonic() - lastAt[lineOf(known)]);
        if (!response.destroyed) sendJson(response, 202, { granted: false, idleMs });
      } finally {
        end();
        closing.signal.removeEventListener('abort', end);
      }
    },

    async limited(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const retryAfterMs = milliseconds((await readJsonBody(request)).retryAfterMs, longestWaitMs);
      await hub.budget.reduce(retryAfterMs);
      log({ type: 'limited', retryAfterMs });
      sendJson(response, 204);
    },

    async sent(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const { reads, creates } = await readJsonBody(request);
      const ages = { read: agesOf(reads), create: agesOf(creates) };
      for (const line of ['read', 'create'] as const)
        if (ages[line].length > 0) await hub.budget.report(line, ages[line]);
      log({ type: 'reported', reads: ages.read.length, creates: ages.create.length });
      sendJson(response, 204);
    },

    /** Tells the gates that wait to ask again, perhaps another hub. */
    end: () => closing.abort(),
  };
}
