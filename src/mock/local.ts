import type { Exchange } from './exchange.ts';

const ownNames = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i;

/** Whether the mock listens on this machine alone. */
export function isLoopbackHost(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|::1)$/i.test(host);
}

/** Whether a Host header names this machine, or one of the names that were allowed; in any case, with any port. */
export function isOwnHost(header: string, allowed: readonly string[]): boolean {
  const name = header.replace(/:\d+$/, '').toLowerCase();
  return ownNames.test(header) || allowed.some((one) => one.toLowerCase() === name);
}

/**
 * Whether a request came from this machine, and was meant for it: a page elsewhere may know a name for it that leads
 * here (DNS rebinding).
 */
export function isFromHere({
  address,
  headers: { host = '' },
}: Pick<Exchange, 'address' | 'headers'>): boolean {
  const near = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/.test(address);
  return near && ownNames.test(host);
}
