import { subscribe } from 'node:diagnostics_channel';

/** The requests over real sockets that are under way, with the real times at which they began. */
const underWay = new Map<unknown, number>();

const watch = (stage: string, act: (request: unknown) => void) =>
  subscribe(`undici:request:${stage}`, (message) => act((message as { request: unknown }).request));
watch('create', (request) => underWay.set(request, Date.now()));
watch('trailers', (request) => underWay.delete(request));
watch('error', (request) => underWay.delete(request));

/** One that takes longer is that of a process that a test has killed. */
const mostMs = 3_000;

/** Returns whether a response is still to come. @param held the paths at which a server holds requests */
export const isRequestUnderWay = (held: readonly string[] = []): boolean =>
  [...underWay].some(
    ([request, began]) => Date.now() < began + mostMs && !held.includes((request as { path: string }).path),
  );
