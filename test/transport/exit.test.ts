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
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/**
 * Runs a script with `createClient` in scope. Anything that could keep the process alive lasts longer than the test may
 * take: 10 minutes for an idle connection or a retry, 30 s for a request.
 */
async function run(script: string) {
  const file = join(folder, 'script.cjs');
  await writeFile(file, `const { createClient } = require('./client.cjs');\n(async () => {${script}\n})();`);
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code, out };
}

const server = `
  const server = require('node:http').createServer((request, response) => {
    if (request.url.endsWith('/slow')) return;
    if (request.url.endsWith('/busy')) response.writeHead(503, { 'retry-after': '600' });
    response.end('{"state":"in_progress"}');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  server.keepAliveTimeout = 600_000;
  const received = (path) => new Promise((resolve) => server.on('request', ({ url }) => url.endsWith(path) && resolve()));
  server.on('connection', (socket) => socket.unref());
  const client = createClient({ apiUrl: 'http://127.0.0.1:' + server.address().port, apiKey: 'k' });`;

test('an open idle connection does not keep the process alive', async () => {
  const script = `${server} await client.run.status('r'); console.log('done');`;
  const { code, out } = await run(script);
  expect({ code, out }).toEqual({ code: 0, out: 'done\n' });
});

test('close ends calls that wait for a response, for a retry or for a connection, and the process exits', async () => {
  const script = `${server}
    // This server accepts connections and sends nothing, so the TLS handshake hangs.
    const mute = require('node:net').createServer((socket) => socket.unref());
    await new Promise((resolve) => mute.listen(0, '127.0.0.1', resolve));
    mute.unref();
    const other = createClient({ apiUrl: 'https://localhost:' + mute.address().port, apiKey: 'k' });
    const pending = [client.run.status('slow'), client.run.status('busy'), other.run.status('r')];
    const ended = Promise.allSettled(pending);
    await Promise.all([received('slow'), received('busy'), new Promise((resolve) => mute.once('connection', resolve))]);
    await Promise.all([client.close(), other.close()]);
    console.log((await ended).map((one) => one.reason.message).join());`;
  const { code, out } = await run(script);
  expect({ code, out }).toEqual({
    code: 0,
    out: 'the client is closed,the client is closed,the client is closed\n',
  });
});
