import { subscribe } from 'node:diagnostics_channel';

/** The requests over real sockets that are under way, with the real times at which they began and their headers came. */
const underWay = new Map<unknown, { began: number; headers: number | null }>();

const watch = (stage: string, act: (request: unknown) => void) =>
  subscribe(`undici:request:${stage}`, (message) => act((message as { request: unknown }).request));
watch('create', (request) => underWay.set(request, { began: Date.now(), headers: null }));
watch('headers', (request) => {
  const one = underWay.get(request);
  if (one !== undefined) one.headers = Date.now();
});
watch('trailers', (request) => underWay.delete(request));
watch('error', (request) => underWay.delete(request));

/** One that takes longer is that of a process that a test has killed. */
const mostMs = 3_000;
/** The body of some responses never comes. */
const bodyMs = 50;

/** Returns whether a response is still to come. */
export const isRequestUnderWay = (): boolean =>
  [...underWay.values()].some(({ began }) => Date.now() < began + mostMs);

/** Returns whether a response is still to come, apart from bodies that have stalled. */
export const isResponseDue = (): boolean =>
  [...underWay.values()].some(
    ({ began, headers }) => Date.now() < (headers === null ? began + mostMs : headers + bodyMs),
  );
