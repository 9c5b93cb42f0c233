import type { Exchange } from './exchange.ts';

const near = /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/;
const ownName = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Whether an IP address is one of this machine alone. */
export function isLoopbackAddress(address: string): boolean {
  return near.test(address);
}

const nameOf = (host: string) => host.replace(/:\d+$/, '').toLowerCase();

/**
 * Whether a request names this machine, or one of the names that were allowed, in its Host header; in any case, with any
 * port. A page elsewhere may know a name of its own that leads here (DNS rebinding).
 */
export function namesThisHost(
  { headers: { host = '' } }: Pick<Exchange, 'headers'>,
  allowed: readonly string[],
): boolean {
  const name = nameOf(host);
  return ownName.test(name) || allowed.some((one) => nameOf(one) === name);
}
