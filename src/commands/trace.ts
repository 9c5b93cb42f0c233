import type { ExchangeEvent } from '../client/caller.ts';
import { formatDuration } from '../duration.ts';
import type { Output } from '../output/output.ts';

/** One line for `--verbose`: what went over the wire, without headers or bodies, which may hold secrets. */
export function traceExchange(event: ExchangeEvent, excerpt: Output['excerpt']): string {
  if ('waitMs' in event) return `* waiting ${formatDuration(event.waitMs)}: ${excerpt(event.reason)}`;
  const result = event.status ?? event.code ?? '?';
  return `* ${event.method} ${excerpt(event.path)} → ${result} in ${formatDuration(event.elapsedMs)} (try ${event.attempt})`;
}
