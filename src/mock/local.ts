import type { Exchange } from './exchange.ts';

/**
 * Whether a request came from this machine, and was meant for it: a page elsewhere may know a name for it that leads
 * here (DNS rebinding).
 */
export function isFromHere({
  address,
  headers: { host = '' },
}: Pick<Exchange, 'address' | 'headers'>): boolean {
  const near = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/.test(address);
  return near && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(host);
}
