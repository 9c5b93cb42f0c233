import { expectTypeOf, test } from 'vitest';
import type { ServiceClient } from '../../src/client/create-client.ts';
import type { RunStatus } from '../../src/contract/service-types.ts';
import type { EndedRunStatus, PendingRunStatus } from '../../src/contract/types.ts';

declare const client: ServiceClient;

test('attach accepts bytes, a Blob, or a file with a name and a type', () => {
  const bytes = Uint8Array.of(1);
  void client.observations.attach('p', 'o', bytes);
  void client.observations.attach('p', 'o', Buffer.from('text'));
  void client.observations.attach('p', 'o', bytes.buffer);
  void client.observations.attach('p', 'o', new Blob([bytes]), { timeoutMs: 1000 });
  void client.observations.attach('p', 'o', { file: bytes, name: 'a.png', type: 'image/png' });
  void client.observations.attach('p', 'o', { note: 'fields' });
  // @ts-expect-error a path is not a file
  void client.observations.attach('p', 'o', 'a.png');
  // @ts-expect-error only attach accepts a file
  void client.observations.create('p', bytes);
});

test('the status of an ended run has both counts', async () => {
  const status = await client.run.status('r');
  expectTypeOf(status).toExtend<RunStatus>();
  if (status.state === 'completed' || status.state === 'cancelled') {
    expectTypeOf(status.failed).toEqualTypeOf<number>();
    expectTypeOf(status.blocked).toEqualTypeOf<number>();
  } else {
    expectTypeOf<undefined>().toExtend<typeof status.failed>();
  }
  switch (status.state) {
    case 'cancelled':
      expectTypeOf(status).toEqualTypeOf<EndedRunStatus>();
      break;
    case 'in_progress':
      expectTypeOf(status).toEqualTypeOf<PendingRunStatus>();
      break;
  }
});

test('a body that does not match the API does not compile', () => {
  // @ts-expect-error
  void client.run.trigger();
  // @ts-expect-error
  void client.run.trigger({ projectSlug: 'p' });
  // @ts-expect-error
  void client.run.trigger({ projectSlug: 'p', processSlug: 'c', tags: ['a'] });
  // @ts-expect-error
  void client.run.cancel('r', { because: 'no' });
});

test('a paged list has an iterator over its items', async () => {
  for await (const environment of client.env.list.all({ pageSize: 50 })) {
    expectTypeOf(environment.name).toEqualTypeOf<string | null | undefined>();
  }
  for await (const observation of client.observations.list.all('p', { status: 'open' }, { maxRequests: 1 })) {
    expectTypeOf(observation.processRunId).toEqualTypeOf<string | null | undefined>();
  }
  for await (const webhook of client.webhooks.list.all()) expectTypeOf(webhook).toBeObject();
  for await (const variable of client.env.vars.list.all('e', { pageSize: 50 }))
    expectTypeOf(variable).toBeObject();
  for await (const found of client.observations.search.all('p', { q: 'login' }))
    expectTypeOf(found.status).toEqualTypeOf<string | null | undefined>();
});
