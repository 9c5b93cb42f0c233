import dns from 'node:dns';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { nameInCommands } from '../../src/options/spelling.ts';
import { receiver } from '../../src/transport/address.ts';
import { httpTransport } from '../../src/transport/send.ts';
import { turns, until } from '../until.ts';

/** Listens but accepts nothing before it is released: with a full queue, Linux drops a SYN, which the client resends after 1 s. */
const lateServer = `
  const { parentPort, workerData } = require('node:worker_threads');
  const server = require('node:net').createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      if (String(data).startsWith('CONNECT ')) socket.write('HTTP/1.1 200 OK\\r\\n\\r\\n');
      else socket.end('HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\n{}');
    });
  });
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(workerData, 0, 0);
  });`;

/**
 * Returns the host of a service whose IPv4 address takes a second to connect and whose IPv6 address is unreachable. It must be
 * released within this second.
 */
async function slowHost() {
  const released = new Int32Array(new SharedArrayBuffer(4));
  const release = () => {
    Atomics.store(released, 0, 1);
    Atomics.notify(released, 0);
  };
  const worker = new Worker(lateServer, { eval: true, workerData: released });
  onTestFinished(async () => void (await worker.terminate()));
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  let connected = 0;
  const queue: Socket[] = Array.from({ length: 4 }, () =>
    connect(port, '127.0.0.1', () => {
      connected += 1;
    }).on('error', () => {}),
  );
  onTestFinished(() => {
    for (const socket of queue) socket.destroy();
  });
  // A backlog of 1 holds two connections.
  await until(() => connected === 2);
  const addresses = [
    { address: '127.0.0.1', family: 4 },
    { address: '2001:db8::1', family: 6 },
  ];
  const lookup = vi
    .spyOn(dns, 'lookup')
    .mockImplementation(((_host: string, _options: object, done: unknown) =>
      (done as (error: null, found: typeof addresses) => void)(null, addresses)) as never);
  onTestFinished(() => lookup.mockRestore());
  return { host: `far.test:${port}`, isSought: () => lookup.mock.calls.length > 0, release };
}

// By default, Node gives up on an address after 250 ms and never comes back to it.
test.runIf(process.platform === 'linux').each(['directly', 'through a proxy'])(
  'connects %s to a distant service that also has an unreachable address',
  // The kernel's second SYN may find a server that a busy machine has not let run.
  { retry: 3 },
  async (route) => {
    const { host, isSought, release } = await slowHost();
    const proxyEnv = route === 'directly' ? {} : { HTTP_PROXY: `http://${host}` };
    const transport = httpTransport({ proxyEnv, to: receiver('service', nameInCommands) });
    onTestFinished(() => transport.close());
    const url = new URL(`http://${host}/`);
    const target = { endpoint: 'x', method: 'GET', url, path: '/', headers: {} } as const;
    const get = { ...target, repeatable: true };
    const outcome = transport.send(get, { timeoutMs: 100_000 }).then(
      (response) => String(response.status),
      (error: Error) => error.message,
    );
    await until(isSought);
    await turns();
    release();
    expect(await outcome).toBe('200');
  },
);
