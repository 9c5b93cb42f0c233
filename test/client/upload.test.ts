import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, type ServiceClient } from '../../src/client/create-client.ts';
import { fieldsOf } from '../../src/client/fields.ts';
import { UsageError } from '../../src/errors.ts';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { rejection } from './rejection.ts';

let mock: MockServer;
let client: ServiceClient;
let id: string;
beforeAll(async () => {
  mock = await startMock();
  client = createClient({ apiUrl: mock.url, token: mock.token });
  const { items } = await client.observations.list('shop');
  id = String(fieldsOf(items[0]).id);
});
afterAll(async () => {
  await client.close();
  await mock.close();
});

type Body = Parameters<ServiceClient['observations']['attach']>[2];
const attach = (body: Body) => client.observations.attach('shop', id, body);

const bytes = Uint8Array.of(0x89, 0x50, 0x00, 0xff, 0x0d, 0x0a);
const sha256 = createHash('sha256').update(bytes).digest('hex');
const octets = 'application/octet-stream';

describe('attaching a file', () => {
  it.each<[string, Body, string, string]>([
    ['bytes', bytes, 'file', octets],
    ['an ArrayBuffer', bytes.buffer, 'file', octets],
    ['a view into a larger buffer', Uint8Array.of(1, ...bytes, 2).subarray(1, -1), 'file', octets],
    ['a DataView', new DataView(Uint8Array.of(1, ...bytes, 2).buffer, 1, bytes.length), 'file', octets],
    ['a File without a name', new File([bytes], ''), 'file', octets],
    ['a File', new File([bytes], 'shot.png', { type: 'image/png' }), 'shot.png', 'image/png'],
    ['bytes with a name', { file: bytes, name: 'a "b"\r\n.bin' }, 'a "b"\r\n.bin', octets],
    ['a File with another name', { file: new File([bytes], 'a'), name: 'b', type: 'text/x' }, 'b', 'text/x'],
  ])('sends %s with every byte, its name and its type', async (_case, body, name, type) => {
    expect(await attach(body)).toMatchObject({ name, type, size: bytes.length, sha256 });
  });

  it('sends the bytes as they were at the time of the call', async () => {
    const changing = Uint8Array.from(bytes);
    const sent = attach(changing);
    changing.fill(0);
    expect(await sent).toMatchObject({ sha256 });
  });

  it.each<[string, unknown]>([
    ['another field', { file: bytes, note: 'x' }],
    ['a name that is not text', { file: bytes, name: 7 }],
  ])('refuses a file with %s before sending anything', async (_case, body) => {
    const before = mock.requests.length;
    expect((await rejection(attach(body as Body), UsageError)).hint).toContain('{ file, name, type }');
    expect(mock.requests).toHaveLength(before);
  });

  it.each<[unknown, string]>([
    [{ file: bytes, name: null }, 'name must be text, not null'],
    [{ file: bytes, name: '' }, 'name must not be empty'],
  ])('refuses %j: %s', async (body, message) => {
    expect((await rejection(attach(body as Body), UsageError)).message).toContain(message);
  });
});
