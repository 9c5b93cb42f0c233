import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError } from './errors.ts';

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is already in use',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'this machine does not have the address',
  ENOTFOUND: 'the name cannot be resolved',
  EAI_AGAIN: 'the name cannot be resolved',
};

/** Starts a server. @throws ConfigError if it cannot listen */
export async function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const reason = reasons[cause.code ?? ''] ?? cause.code;
      const hint =
        'choose another port, or port 0 for any free port, and a host that is an address of this machine';
      reject(new ConfigError(`cannot listen on port ${port} of ${host}: ${reason}`, { hint, cause }));
    });
    server.listen(port, host, resolve);
  });
  return server.address() as AddressInfo;
}

export const httpUrl = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
