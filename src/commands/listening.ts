import { ConfigError, UsageError } from '../errors.ts';
import type { Output } from '../output/output.ts';
import { echoed } from '../suggest.ts';
import { isLoopback } from '../transport/address.ts';
import { filled } from './global-options.ts';

/** The port of the servers that receive deliveries: fixed, so that a webhook has to be registered only once; next to the mock's. */
const defaultPort = 4020;

export function portOf(text: string | undefined): number {
  if (text === undefined) return defaultPort;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new UsageError(`--port: ${echoed(text)} is not a whole number from 0 to 65535`);
}

/** Reads `--host`: a name or an address, an IPv6 address also in the brackets of a URL. */
export function hostOf(text: string | undefined): string {
  return filled('--host', text)?.replace(/^\[(.*)\]$/, '$1') ?? '127.0.0.1';
}

export function cannotListen(cause: NodeJS.ErrnoException, host: string, port: number): ConfigError {
  const reasons: Record<string, string> = {
    EADDRINUSE: 'the port is already in use',
    EACCES: 'permission denied',
    EADDRNOTAVAIL: 'this machine does not have that address',
    ENOTFOUND: 'no such host',
  };
  const reason = reasons[cause.code ?? ''] ?? cause.code;
  return new ConfigError(`cannot listen on port ${port} of ${host}: ${reason}`, {
    hint: 'choose another --port, or --port 0 for any free port; --host must be an address of this machine',
    cause,
  });
}

/** Warns if other machines can reach a server. */
export async function warnIfExposed(host: string, output: Output): Promise<void> {
  if (isLoopback(host.includes(':') ? `[${host}]` : host.toLowerCase())) return;
  const warn = output.paint('warn', 'warning:');
  await output.alert(`${warn} listening on ${host}: other machines can reach it, in plain HTTP`);
}
