import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsup';
import { afterAll, beforeAll, expect, test } from 'vitest';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rungate-exit-'));
  const entry = { client: fileURLToPath(new URL('../../src/client/create-client.ts', import.meta.url)) };
  await build({
    entry,
    outDir: folder,
    format: 'cjs',
    noExternal: [/.*/],
    config: false,
    silent: true,
    clean: false,
  });
}, 60_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a script that has `createClient`, and gives its output and how long it lived after its last line. */
async function run(script: string) {
  const file = join(folder, 'script.cjs');
  await writeFile(file, `const { createClient } = require('./client.cjs');\n(async () => {${script}\n})();`);
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  let spoke = performance.now();
  child.stdout.on('data', (chunk) => {
    out += chunk;
    spoke = performance.now();
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code, out, lingered: performance.now() - spoke };
}

const server = `
  const server = require('node:http').createServer((request, response) => {
    if (request.url.endsWith('/slow')) return;
    response.statusCode = request.url.endsWith('/busy') ? 503 : 200;
    response.end('{"state":"completed"}');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  server.on('connection', (socket) => socket.unref());
  const client = createClient({ apiUrl: 'http://127.0.0.1:' + server.address().port, apiKey: 'k' });`;

test('the process exits by itself after the last call, with its connection still kept', async () => {
  const script = `${server} await client.run.status('r'); console.log('done');`;
  const { code, out, lingered } = await run(script);
  expect({ code, out }).toEqual({ code: 0, out: 'done\n' });
  expect(lingered).toBeLessThan(2000);
});

test('the process exits by itself after a call that was given up while it still connected', async () => {
  const script = `${server}
    const mute = require('node:net').createServer((socket) => socket.unref());
    await new Promise((resolve) => mute.listen(0, '127.0.0.1', resolve));
    mute.unref();
    const other = createClient({ apiUrl: 'https://localhost:' + mute.address().port, apiKey: 'k' });
    await other.run.status('r', { signal: AbortSignal.timeout(200) }).catch((error) => console.log(error.name));`;
  const { code, out, lingered } = await run(script);
  expect({ code, out }).toEqual({ code: 0, out: 'TimeoutError\n' });
  expect(lingered).toBeLessThan(5000);
});

test('close leaves nothing behind of a call that waits for a reply, for a retry or for a connection', async () => {
  const script = `${server}
    // A server that accepts connections and never speaks: the TLS handshake hangs.
    const mute = require('node:net').createServer((socket) => socket.unref());
    await new Promise((resolve) => mute.listen(0, '127.0.0.1', resolve));
    mute.unref();
    const other = createClient({ apiUrl: 'https://localhost:' + mute.address().port, apiKey: 'k' });
    const pending = [client.run.status('slow'), client.run.status('busy'), other.run.status('r')];
    const ended = Promise.allSettled(pending);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await Promise.all([client.close(), other.close()]);
    console.log((await ended).map((one) => one.reason.message).join());`;
  const { code, out, lingered } = await run(script);
  expect({ code, out }).toEqual({
    code: 0,
    out: 'the client is closed,the client is closed,the client is closed\n',
  });
  expect(lingered).toBeLessThan(2000);
});
