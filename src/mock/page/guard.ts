import { MockError } from '../error.ts';
import type { Exchange } from '../exchange.ts';
import { isLoopbackAddress } from '../local.ts';

/** The header in which the page shows that it was loaded from here. */
export const tokenHeader = 'x-mock-page';

/** Anything under this name is for the page alone. */
function forbid(details: string): never {
  throw new MockError(403, 'Forbidden', details);
}

/** Who may load the page: it shows nothing by itself, so a link from anywhere may lead to it, but nobody embeds it. */
export function guardPage(exchange: Exchange): void {
  if (!isLoopbackAddress(exchange.address)) forbid('the page is for this machine only');
  const { 'sec-fetch-dest': destination = 'document' } = exchange.headers;
  if (destination !== 'document') forbid(`the page is no ${destination}`);
}

/**
 * Who may read what the page shows, and do what its buttons do: the page itself. Another page in the same browser
 * can send requests here, but it cannot read the token; nor can it take this machine's name, or hide its own.
 */
export function guardCalls(exchange: Exchange, token: string): void {
  if (!isLoopbackAddress(exchange.address)) forbid('the page is for this machine only');
  const {
    host = '',
    origin,
    'sec-fetch-site': site = 'same-origin',
    [tokenHeader]: shown,
  } = exchange.headers;
  if (origin !== undefined && origin !== `http://${host}`) forbid(`not from ${origin}`);
  if (site !== 'same-origin') forbid('only from the page itself');
  if (shown !== token) forbid('the mock was started again: load the page anew');
}
