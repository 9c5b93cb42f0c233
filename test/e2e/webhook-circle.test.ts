import { readdirSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createClient, otherFields, type ServiceClient } from '../../src/index.ts';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { deliveryOf, webhook } from '../../src/webhook/receivers/express.ts';
import { folderForTest } from '../folders.ts';
import { freePort } from '../free-port.ts';
import { until } from '../until.ts';
import { type Running, rungate } from './built.ts';

let mock: MockServer;
let client: ServiceClient;
let app: Server;
let folder: string;
let secrets: string[];
let accepted: { type: string; secretIndex: number }[];

interface Hook {
  id: string;
  secret: string;
}

beforeEach(async () => {
  folder = folderForTest();
  mock = await startMock({ deliveries: 'loopback', duration: 100 });
  client = createClient({ apiUrl: mock.url, apiKey: mock.apiKey, token: mock.token });
  secrets = [];
  accepted = [];
  const receiver = express();
  const options = {
    get secrets() {
      return secrets;
    },
  };
  receiver.post('/hook', webhook(options), (request, response) => {
    const delivery = deliveryOf(request);
    const { type } = delivery.json() as { type: string };
    accepted.push({ type, secretIndex: delivery.verified.secretIndex });
    response.status(202).end('thanks');
  });
  await new Promise<void>((resolve) => {
    app = receiver.listen(0, '127.0.0.1', () => resolve());
  });
});

afterEach(async () => {
  await client.close();
  await mock.close();
  app.close();
});

/** Starts `rungate webhooks listen` in front of the receiver, with the current secrets. */
async function listen(port: number): Promise<Running> {
  const target = `http://127.0.0.1:${(app.address() as AddressInfo).port}/hook`;
  const line = `webhooks listen --port ${port} --forward-to ${target} --save ${folder} --json`;
  const running = rungate(line.split(' '), { RUNGATE_WEBHOOK_SECRET: secrets.join('\n') });
  await running.shows(new RegExp(`:${port}`));
  return running;
}

async function stop({ child, ended }: Running): Promise<string> {
  child.kill('SIGTERM');
  return (await ended).out;
}

it('a delivery goes from the mock through webhooks listen to Express, before and after the secret is rotated', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/in`;
  const hook = (await client.webhooks.create(
    otherFields({ url, events: ['run.started', 'run.completed'] }),
  )) as Hook;
  const statusOfTest = async () => {
    const { id } = (await client.webhooks.test(hook.id)) as Hook;
    await mock.deliveriesSent();
    return (await client.webhooks.deliveries.get(hook.id, id)).responseStatus;
  };

  secrets = [hook.secret];
  let listener = await listen(port);
  expect(await statusOfTest()).toBe(202);
  expect(accepted).toEqual([{ type: 'webhook.test', secretIndex: 0 }]);

  // After the rotation the listener has only the old secret, so it refuses the delivery and does not forward it.
  const { secret } = (await client.webhooks.rotateSecret(hook.id)) as Hook;
  expect(await statusOfTest()).toBe(401);
  expect(accepted).toHaveLength(1);
  expect((await stop(listener)).trim().split('\n')).toHaveLength(2);

  secrets = [hook.secret, secret];
  listener = await listen(port);
  expect(await statusOfTest()).toBe(202);
  expect(accepted.at(-1)).toEqual({ type: 'webhook.test', secretIndex: 1 });

  await client.run.trigger({ projectSlug: 'shop', processSlug: 'checkout' });
  await until(() => accepted.length >= 4);
  await mock.deliveriesSent();
  expect(accepted.slice(2).map(({ type }) => type)).toEqual(['run.started', 'run.completed']);
  await stop(listener);

  // Every captured delivery can be verified offline, the refused one with the new secret.
  const captures = readdirSync(folder);
  expect(captures).toHaveLength(5);
  for (const name of captures) {
    const args = ['webhooks', 'verify', '--request-file', join(folder, name), '--json'];
    const { code, out } = await rungate(args, { RUNGATE_WEBHOOK_SECRET: secrets.join('\n') }).ended;
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ authentic: true });
  }
});
