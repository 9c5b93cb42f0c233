import type { DeliveryFaultKind } from './delivery-kinds.ts';
import { durationParameters, type FaultKind, type RequestFaultKind } from './fault-kinds.ts';
import { faultNames } from './parse.ts';

interface RequestFaultText {
  /** The response, or its absence, as the client sees it. */
  readonly gets: string;
  readonly takesEffect: boolean;
  /** The parameters of the kind other than a duration. */
  readonly parameters?: string;
}

export const requestFaultTexts: Readonly<Record<RequestFaultKind, RequestFaultText>> = {
  status: {
    gets: 'this status code, with text unchanged and any other body as JSON',
    takesEffect: false,
    parameters: '`status`, `body?`, `headers?`',
  },
  reply: { gets: '200 with this text', takesEffect: false, parameters: '`text`, `contentType?`' },
  patch: {
    gets: 'the JSON with fields replaced, or fields and headers removed',
    takesEffect: true,
    parameters: '`merge?`, `remove?`',
  },
  refused: { gets: 'resets of all connections, then 5 s of refused ones', takesEffect: false },
  reset: { gets: 'a connection reset before any response', takesEffect: false },
  'reset-during': { gets: 'the headers, then a reset', takesEffect: true },
  'reset-after': { gets: 'the whole response, then a reset', takesEffect: true },
  'reset-reused': { gets: 'a reset, but only on a reused connection', takesEffect: false },
  'reset-after-commit': { gets: 'a reset: the request is handled, its response lost', takesEffect: true },
  'black-hole': { gets: 'nothing, and the connection is no longer read', takesEffect: false },
  'stall-headers': { gets: 'nothing', takesEffect: false },
  'stall-body': { gets: 'the headers and up to five bytes, then nothing', takesEffect: true },
  drip: { gets: 'one byte of the body per second of real time', takesEffect: true },
  truncated: { gets: 'half of the body, then a closed connection', takesEffect: true },
  'cut-json': { gets: 'a complete 200 with half of the JSON text', takesEffect: true },
  'length-larger': { gets: 'a Content-Length 10 bytes too large', takesEffect: true },
  'length-smaller': { gets: 'a Content-Length of half the body', takesEffect: true },
  'html-200': { gets: 'a login page with 200', takesEffect: false },
  'html-502': { gets: "a proxy's error page with 502", takesEffect: false },
  'empty-200': { gets: '200 without a body', takesEffect: false },
  'wrong-types': { gets: 'every field with another type', takesEffect: true },
  'unknown-state': { gets: 'the run state "defrosting"', takesEffect: true },
  backwards: { gets: 'run counts that decrease: 7, 6, …', takesEffect: true },
  'in-progress': { gets: '409 "in progress"', takesEffect: false },
  'key-reuse': { gets: '422 "key reused"', takesEffect: false },
  limited: { gets: '429 without Retry-After', takesEffect: false },
  'limited-seconds': {
    gets: '429 with Retry-After: 7',
    takesEffect: false,
    parameters: '`seconds?`',
  },
  'limited-date': { gets: '429 with a date 10 s ahead in Retry-After', takesEffect: false },
  'limited-past': { gets: '429 with a date an hour ago in Retry-After', takesEffect: false },
  'limited-absurd': { gets: '429 with Retry-After: 99999999999', takesEffect: false },
  burst: { gets: '500, 502, 503 and 504 in turn, for 3 requests', takesEffect: false },
  'redirect-same': { gets: '307 to the same path', takesEffect: false },
  'redirect-other': { gets: '307 to another origin', takesEffect: false },
  huge: { gets: '100 MB', takesEffect: false },
  deep: { gets: 'arrays nested 100,000 deep', takesEffect: false },
  'gzip-bomb': { gets: '100 MB compressed to 100 kB', takesEffect: false },
  'clock-off': { gets: '429 with Date and Retry-After an hour ahead', takesEffect: false },
};

export const deliveryFaultTexts: Readonly<Record<DeliveryFaultKind, string>> = {
  drop: 'nothing, and the mock records a failure',
  duplicate: 'the same request twice',
  delay: 'the delivery 5 s late, signed before the delay',
  reorder: 'the delivery after the next one, or after 5 s',
  forge: 'the delivery with a wrong signature',
  early: 'the end of a run 5 s before its status shows it',
};

/** Returns the kinds that `--fault` takes by name, with their texts: `refused[=duration]`. */
export function describedFaults(): { term: string; text: string; isDelivery: boolean }[] {
  const texts = new Map<string, string>([
    ...Object.entries(requestFaultTexts).map(([kind, { gets }]) => [kind, gets] as const),
    ...Object.entries(deliveryFaultTexts),
  ]);
  return faultNames.map((kind) => {
    const duration = durationParameters[kind as FaultKind] === undefined ? '' : '[=duration]';
    return {
      term: `${kind}${duration}`,
      text: texts.get(kind) ?? '',
      isDelivery: kind in deliveryFaultTexts,
    };
  });
}
