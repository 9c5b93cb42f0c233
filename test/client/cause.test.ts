import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { createClient } from '../../src/index.ts';
import { listen } from '../listen.ts';

const token = 'sk-live&part&Ab1234567890';

/** Returns the error of a call to a server that sends this text. */
async function errorOf(response: string): Promise<Error> {
  const server = createServer((socket) =>
    socket.on('error', () => {}).once('data', () => socket.end(response)),
  );
  const client = createClient({ apiUrl: `http://127.0.0.1:${await listen(server)}`, token });
  try {
    await client.env.list({}, { maxRequests: 1 });
    throw new Error('no error');
  } catch (error) {
    return error as Error;
  } finally {
    await client.close();
  }
}

const withBody = (body: string, type = 'application/json') =>
  `HTTP/1.1 400 Bad Request\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

test.each([
  ['a header that is not HTTP', `HTTP/1.1 200 OK\r\nbad ${token}\r\n\r\n`],
  ['HTML within JSON', withBody('{"error":"sk-live\\u0026amp;part\\u0026amp;Ab1234567890"}')],
])('an error has no secret from %s', async (_, response) => {
  const error = await errorOf(response);
  const { body } = error as Error & { body?: string };
  expect(`${inspect(error, { depth: 9 })} ${body}`).not.toMatch(/sk-live|Ab1234567890/);
});
