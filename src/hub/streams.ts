import type { IncomingMessage, ServerResponse } from 'node:http';
import { hubVersion } from '../gate/fleet/hub-link.ts';
import { longestId } from './deliveries.ts';
import { BadRequest } from './http.ts';
import type { Hub } from './hub.ts';
import type { HubLogEvent } from './log-events.ts';

const mostRuns = 1_000;
/** The runs that all gates together may watch. */
const mostWatched = 20_000;
/** The gates that may be connected, or wait for a grant, at the same time. */
export const mostGates = 4_000;
const mostUnreadBytes = 64 * 1024;

interface StreamTools {
  hub: Hub;
  /** Returns the body of a gate's request. */
  read(request: IncomingMessage): Promise<Record<string, unknown>>;
  log(event: HubLogEvent): void;
}

export interface Streams {
  /** Opens the stream of a gate. */
  open(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Sends a heartbeat to each gate. */
  beat(): void;
  /** Ends all streams. */
  end(): void;
  count(): number;
}

export function createStreams({ hub, read, log }: StreamTools): Streams {
  const streams = new Set<ServerResponse>();
  /** The runs that gates watch. */
  let watched = 0;
  return {
    count: () => streams.size,

    async open(request, response) {
      const { runs: runIds } = await read(request);
      const isList = Array.isArray(runIds) && runIds.every((run) => typeof run === 'string');
      if (!isList || runIds.length > mostRuns)
        throw new BadRequest(400, `runs must be a list of at most ${mostRuns} run ids`);
      const runs = runIds.filter(({ length }) => length <= longestId);
      if (watched + runs.length > mostWatched || streams.size >= mostGates)
        throw new BadRequest(503, 'the hub watches as many runs as it can');
      if (response.destroyed) return;
      watched += runs.length;
      response.once('close', () => {
        watched -= runs.length;
      });
      const lastId = Number(request.headers['last-event-id'] ?? 0);
      response.writeHead(200, {
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-store, no-transform',
        // Otherwise nginx would keep the events until its buffer is full.
        'X-Accel-Buffering': 'no',
      });
      response.write(`event: ready\ndata: {"version":${hubVersion}}\n\n`);
      streams.add(response);
      response.once('close', () => streams.delete(response));
      log({ type: 'stream', runs: runs.length, open: streams.size });
      const end = await hub.subscribe(runs, Number.isFinite(lastId) ? lastId : 0, ({ id, at }) => {
        log({ type: 'wake', runId: id });
        response.write(`id: ${at}\nevent: wake\ndata: ${JSON.stringify({ runId: id })}\n\n`);
      });
      if (response.destroyed) end();
      else response.once('close', end);
    },

    beat() {
      for (const response of streams) {
        // A gate that no longer reads has gone without a word.
        if (response.writableLength > mostUnreadBytes) response.destroy();
        else response.write(': heartbeat\n\n');
      }
    },

    end() {
      for (const response of streams) response.end();
    },
  };
}
