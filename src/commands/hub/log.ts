import { messageOf, type StopSignal } from '../../errors.ts';
import type { HubLogEvent } from '../../hub/http.ts';
import { renderJson, wantsJson } from '../../output/json.ts';
import type { Output } from '../../output/output.ts';
import type { Redact } from '../../redact.ts';

export type LoggedEvent =
  | HubLogEvent
  | { type: 'listening'; url: string }
  | { type: 'stopping'; signal: StopSignal }
  | { type: 'redis-lost'; error: unknown }
  | { type: 'redis-back' }
  | { type: 'suppressed'; of: string; count: number };

/** Events of the same kind that are logged in one minute. */
const mostRepeats = 5;
/** Kinds of events that are counted separately. */
const mostKinds = 100;

/** Returns the kind of an event that anyone could cause again and again, or null for any other. */
function repeatedKind(event: LoggedEvent): string | null {
  switch (event.type) {
    case 'refused-delivery':
      return `${event.type} ${event.code}`;
    case 'refused-request':
      return `${event.type} ${event.status}`;
    case 'fault':
    case 'start-failed':
      return `${event.type} ${messageOf(event.error)}`;
    case 'delivery':
      return event.replay ? 'delivery replay' : null;
    case 'redis-lost':
    case 'redis-back':
      return event.type;
    default:
      return null;
  }
}

/** Rounds to milliseconds. */
const rounded = (value: unknown) => (typeof value === 'number' ? Math.round(value * 1000) / 1000 : value);

/** Values without these characters need no quotes. */
const bare = /^[\w.:/-]+$/;

/**
 * Returns a function that writes one line per event, and a function that writes how many were left out since it was last
 * called.
 * @param redact removes secrets that are not settings
 */
export function createLog(
  output: Output,
  now: () => number,
  redact: Redact,
): { log(event: LoggedEvent): void; flush(): void } {
  const isJson = wantsJson(output);
  const counts = new Map<string, number>();

  const write = ({ type, ...fields }: LoggedEvent) => {
    const shown = Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
      if (value === null) return [];
      if (name === 'error') return [[name, output.excerpt(redact(messageOf(value)), 500)]];
      return [[name, typeof value === 'string' ? output.excerpt(redact(value)) : rounded(value)]];
    });
    const time = new Date(now()).toISOString();
    if (isJson) {
      const fields = Object.fromEntries(shown);
      const record = { schemaVersion: 1, time, event: type, ...fields };
      return void output.lines(renderJson(record, 0));
    }
    const pairs = shown.map(([name, value]) => {
      const text = String(value);
      return ` ${name}=${bare.test(text) ? text : JSON.stringify(text)}`;
    });
    void output.result(`${time} ${type}${pairs.join('')}\n`);
  };

  return {
    log(event) {
      const kind = repeatedKind(event);
      if (kind === null) return write(event);
      const key = counts.has(kind) || counts.size < mostKinds ? kind : 'other events';
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (count <= mostRepeats) write(event);
    },
    flush() {
      for (const [of, count] of counts)
        if (count > mostRepeats) write({ type: 'suppressed', of, count: count - mostRepeats });
      counts.clear();
    },
  };
}
