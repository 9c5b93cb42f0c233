import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClient, otherFields, type ServiceClient } from '../../src/index.ts';
import { type MockOptions, type MockServer, startMock } from '../../src/mock/server.ts';
import { verify } from '../../src/webhook/node.ts';
import { until } from '../until.ts';

interface Received {
  headers: IncomingHttpHeaders;
  body: Buffer;
  json: { type: string; data: Record<string, unknown> };
}

let receiver: Server;
let received: Received[];
let receiverStatus: number;
let url: string;
let mock: MockServer;
let client: ServiceClient;

beforeEach(async () => {
  received = [];
  receiverStatus = 204;
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    received.push({ headers: request.headers, body, json: JSON.parse(body.toString()) });
    response.writeHead(receiverStatus, { location: 'http://127.0.0.1:1/' }).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook?a=1`;
});

afterEach(async () => {
  await client.close();
  await mock.close();
  receiver.close();
});

async function serve(options: MockOptions = {}) {
  mock = await startMock({ deliveries: 'loopback', duration: 30, ...options });
  client = createClient({ apiUrl: mock.url, apiKey: mock.apiKey, token: mock.token });
}

interface Hook {
  id: string;
  secret: string;
}

const register = async (fields: Record<string, unknown> = {}) =>
  (await client.webhooks.create(otherFields({ url, ...fields }))) as Hook;

const check = (one: Received | undefined, secret: string) =>
  verify({ body: one?.body ?? '', headers: one?.headers ?? {}, secrets: [secret] });

async function eventually(count: number) {
  await until(() => received.length >= count);
  await mock.deliveriesSent();
}

describe('the mock', () => {
  it("sends a test delivery signed with the webhook's secret and records the response", async () => {
    await serve();
    const { id, secret } = await register();
    const made = (await client.webhooks.test(id)) as { id: string; status: string };
    expect(made.status).toBe('pending');
    await eventually(1);
    expect(received[0]?.json.type).toBe('webhook.test');
    await expect(check(received[0], secret)).resolves.toMatchObject({ secretIndex: 0 });
    const recorded = await client.webhooks.deliveries.get(id, made.id);
    expect(recorded).toMatchObject({ status: 'delivered', responseStatus: 204, attempts: 1 });
  });

  it('signs with the new secret after a rotation', async () => {
    await serve();
    const { id, secret } = await register();
    const { secret: next } = (await client.webhooks.rotateSecret(id)) as Hook;
    await client.webhooks.test(id);
    await eventually(1);
    await expect(check(received[0], secret)).rejects.toMatchObject({ code: 'mismatch' });
    await expect(check(received[0], next)).resolves.toBeDefined();
  });

  it.each([
    ['passed', 'run.completed', 'completed'],
    ['failed', 'run.completed', 'completed'],
    ['cancelled', 'run.cancelled', 'cancelled'],
  ] as const)(
    'announces a run that ends as %s with run.started and %s, once each',
    async (outcome, type, state) => {
      await serve({ outcome });
      await register({ projectId: 'shop', events: ['run.started', 'run.completed', 'run.cancelled'] });
      await client.run.trigger({ projectSlug: 'shop', processSlug: 'checkout' });
      await eventually(2);
      expect(received.map((one) => one.json.type)).toEqual(['run.started', type]);
      expect(received[1]?.json.data).toMatchObject({ state, projectId: 'shop' });
    },
  );

  it('sends nothing to other machines by default', async () => {
    await serve();
    const { id } = await register({ url: 'http://192.0.2.1:9/hook' });
    expect(await client.webhooks.test(id)).toMatchObject({ status: 'not_sent' });
  });
});
