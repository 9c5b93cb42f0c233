import { createServer, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import type { RungateError } from '../../../src/errors.ts';
import { createHubClient } from '../../../src/gate/fleet/hub-client.ts';
import { nameInCommands } from '../../../src/options/spelling.ts';
import { receiver } from '../../../src/transport/address.ts';
import { httpTransport } from '../../../src/transport/send.ts';
import { listen } from '../../listen.ts';
import { until } from '../../until.ts';
import { createHubLink, request } from './fake-hub.ts';

const never = new AbortController().signal;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const html = '<html>\n<body>\nWelcome\n</body>\n</html>\n';
const ready = 'event: ready\ndata: {"version":1}\n\n';

/** Starts a server with one handler for every request, and a link to it. */
async function connect(handle: (response: ServerResponse, path: string) => void) {
  const requests: { path: string; authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    requests.push({ path: request.url ?? '', authorization: request.headers.authorization });
    request.resume().on('end', () => handle(response, request.url ?? ''));
  });
  const port = await listen(server);
  const to = receiver('hub', nameInCommands);
  const transport = httpTransport({ to });
  const client = createHubClient({
    url: new URL(`http://127.0.0.1:${port}/prefix/`),
    ...{ token: 'hub-token', transport, clock: systemClock, to },
  });
  const changes: (RungateError | null)[] = [];
  const link = createHubLink(client, {
    ...{ clock: systemClock, silenceMs: 400, onChange: (error) => changes.push(error) },
  });
  cleanups.push(async () => {
    link.close();
    await transport.close();
  });
  return { client, link, changes, requests, port };
}

describe('a hub on the network', () => {
  it.each<[string, (response: ServerResponse) => void, RegExp]>([
    ['never responds', () => {}, /does not respond/],
    ['breaks the connection', (response) => response.destroy(), /127\.0\.0\.1/],
    ['rejects the token', (response) => response.writeHead(401).end(), /rejected the token \(401\)/],
    [
      'has another path',
      (response) => response.writeHead(404).end(),
      /status code 404 to POST \/prefix\/v1\/wakes/,
    ],
    ['responds with a page', (response) => response.writeHead(200).end(html), /does not know/],
    [
      'responds with nothing',
      (response) => response.writeHead(200).end(),
      /ended the stream before it was ready/,
    ],
    [
      'sends an id that it cannot have',
      (response) => response.write('id: é\nevent: wake\ndata: {"runId":"a"}\n\n'),
      /does not know/,
    ],
    [
      'redirects to another origin',
      (response) => response.writeHead(302, { Location: 'http://other.example/' }).end(),
      /other\.example/,
    ],
  ])('that %s is one warning, and the gate waits for no grant', async (_name, handle, message) => {
    const { link, changes } = await connect(handle);
    await link.watch(['run_1']);
    await link.granted('first', 'run_1', never);
    expect(changes.map((error) => error?.message)).toEqual([expect.stringMatching(message)]);
  });

  it('gets the token, below the path of its URL', async () => {
    const { link, changes, requests } = await connect((response, path) => {
      if (path.endsWith('/wakes')) response.write(ready);
      else response.end('{"granted":true}');
    });
    await link.watch(['run_1']);
    await link.granted('first', 'run_1', never);
    expect(changes).toEqual([]);
    expect(requests).toEqual([
      { path: '/prefix/v1/wakes', authorization: 'Bearer hub-token' },
      { path: '/prefix/v1/grants', authorization: 'Bearer hub-token' },
    ]);
  });

  it('gets at most one request for a grant a second while it has none', async () => {
    const { client } = await connect((response) => response.writeHead(202).end());
    const began = systemClock.monotonic();
    expect(await client.grant(request('safety'), never)).toEqual({
      granted: false,
      idleMs: Number.POSITIVE_INFINITY,
    });
    expect(systemClock.monotonic() - began).toBeGreaterThanOrEqual(1000);
  });

  it('sees the stream end when the link is closed', async () => {
    let closed = false;
    const { link } = await connect((response) => {
      response.on('close', () => {
        closed = true;
      });
      response.write(ready);
    });
    await link.watch(['run_1']);
    link.close();
    await until(() => closed);
  });
});
