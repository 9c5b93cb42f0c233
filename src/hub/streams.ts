import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import { hubVersion, longestId } from '../gate/fleet/protocol.ts';
import { BadRequest, type HubLogEvent, readJsonBody } from './http.ts';
import type { Wakes } from './wakes.ts';

const mostUnreadBytes = 64 * 1024;

export type Streams = ReturnType<typeof createStreams>;

/** Returns the streams of gates. */
export function createStreams(wakes: Wakes, clock: Clock, log: (event: HubLogEvent) => void) {
  const streams = new Set<ServerResponse>();
  let isLeaving = false;

  return {
    count: () => streams.size,

    async open(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const { runs: runIds, version } = await readJsonBody(request);
      if (version !== hubVersion) throw new BadRequest(400, `version must be ${hubVersion}`);
      if (!Array.isArray(runIds) || !runIds.every((run) => typeof run === 'string'))
        throw new BadRequest(400, 'runs must be a list of run ids');
      const runs = runIds.filter(({ length }) => length <= longestId);
      if (isLeaving) throw new BadRequest(503, 'the hub is stopping');
      if (response.destroyed) return;
      streams.add(response);
      const lastId = Number(request.headers['last-event-id'] ?? 0);
      response.writeHead(200, {
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-store, no-transform',
        // Otherwise nginx would keep the events until its buffer is full.
        'X-Accel-Buffering': 'no',
      });
      response.write(`event: ready\ndata: {"version":${hubVersion}}\n\n`);
      log({ type: 'stream', runs: runs.length, open: streams.size });
      const end = wakes.subscribe(runs, Number.isFinite(lastId) ? lastId : 0, ({ id, at }) => {
        log({ type: 'wake', runId: id });
        response.write(`id: ${at}\nevent: wake\ndata: ${JSON.stringify({ runId: id })}\n\n`);
      });
      response.once('close', () => {
        streams.delete(response);
        end();
      });
    },

    /** Shows the gates that the hub is alive. */
    beat() {
      for (const response of streams) {
        // A gate that no longer reads has gone without a word.
        if (response.writableLength > mostUnreadBytes) response.destroy();
        else response.write(': beat\n\n');
      }
    },

    /** Ends the streams one after another, so that their gates connect again spread over this time. */
    async leave(overMs: number): Promise<void> {
      isLeaving = true;
      const open = [...streams];
      for (const response of open) {
        await clock.sleep(overMs / open.length);
        response.end();
      }
    },

    end() {
      for (const response of streams) response.end();
    },
  };
}
