import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import { commonVersion, hubVersions } from '../gate/fleet/protocol.ts';
import { longestId } from './deliveries.ts';
import { BadRequest } from './http.ts';
import type { Hub } from './hub.ts';
import type { HubLogEvent } from './log-events.ts';
import { type Demand, placesOf } from './places.ts';

const mostRuns = 1_000;
/** The runs that all gates together may watch. */
const mostWatched = 20_000;
/** The gates that may be connected, or wait for a grant, at the same time. */
export const mostGates = 4_000;
/** The gates of one process. */
const mostCreates = 1_000;
const mostUnreadBytes = 64 * 1024;

interface StreamTools {
  hub: Hub;
  clock: Clock;
  /** Returns the body of a gate's request. */
  read(request: IncomingMessage): Promise<Record<string, unknown>>;
  log(event: HubLogEvent): void;
}

export interface Streams {
  /** Opens the stream of a gate. */
  open(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Tells each gate its place. It also shows that the hub is alive. */
  beat(): void;
  /** Ends the streams one after another, so that their gates connect again spread over this time. */
  leave(overMs: number): Promise<void>;
  /** Ends all streams. */
  end(): void;
  count(): number;
}

const isAge = (value: unknown): value is number => typeof value === 'number' && value >= 0;
const agesOf = (value: unknown) => (Array.isArray(value) ? value.filter(isAge) : []);

export function createStreams({ hub, clock, read, log }: StreamTools): Streams {
  const streams = new Map<ServerResponse, Demand>();
  /** The runs that gates watch. */
  let watched = 0;

  /** Counts what a gate has sent while it had no hub. */
  const report = async (sent: unknown) => {
    const { reads, creates } = (sent ?? {}) as Record<string, unknown>;
    const ages = { read: agesOf(reads), create: agesOf(creates) };
    if (ages.read.length + ages.create.length === 0) return;
    log({ type: 'reported', reads: ages.read.length, creates: ages.create.length });
    for (const line of ['read', 'create'] as const)
      if (ages[line].length > 0) await hub.report(line, ages[line]);
  };

  const sendPlaces = (to: readonly ServerResponse[]) => {
    const places = placesOf([...streams.values()], hub.budget(), clock.monotonic());
    for (const [at, response] of [...streams.keys()].entries())
      if (to.includes(response)) response.write(`event: place\ndata: ${JSON.stringify(places[at])}\n\n`);
  };

  return {
    count: () => streams.size,

    async open(request, response) {
      // A gate of the first version says nothing about versions.
      const { runs: runIds, creates = 0, sent, versions = [1] } = await read(request);
      const version = commonVersion(Array.isArray(versions) ? versions : []);
      if (version === undefined)
        throw new BadRequest(400, `the hub speaks other versions of the protocol: ${hubVersions.join(', ')}`);
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
      await report(sent);
      const lastId = Number(request.headers['last-event-id'] ?? 0);
      response.writeHead(200, {
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-store, no-transform',
        // Otherwise nginx would keep the events until its buffer is full.
        'X-Accel-Buffering': 'no',
      });
      response.write(`event: ready\ndata: {"version":${version}}\n\n`);
      streams.set(response, {
        reads: runs.length,
        creates: Math.min(isAge(creates) ? creates : 0, mostCreates),
      });
      response.once('close', () => streams.delete(response));
      sendPlaces([response]);
      log({ type: 'stream', runs: runs.length, open: streams.size });
      const end = await hub.subscribe(runs, Number.isFinite(lastId) ? lastId : 0, ({ id, at, kind }) => {
        log({ type: 'wake', runId: id });
        response.write(`id: ${at}\nevent: wake\ndata: ${JSON.stringify({ runId: id, kind })}\n\n`);
      });
      if (response.destroyed) end();
      else response.once('close', end);
    },

    beat() {
      const open = [...streams.keys()];
      // A gate that no longer reads has gone without a word.
      for (const response of open) if (response.writableLength > mostUnreadBytes) response.destroy();
      sendPlaces(open.filter(({ destroyed }) => !destroyed));
    },

    async leave(overMs) {
      const open = [...streams.keys()];
      for (const response of open) {
        await clock.sleep(overMs / open.length);
        response.end();
      }
    },

    end() {
      for (const response of streams.keys()) response.end();
    },
  };
}
