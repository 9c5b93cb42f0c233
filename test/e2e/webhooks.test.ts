import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { openSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { folderForTest } from '../folders.ts';
import { listen as listenOn } from '../listen.ts';
import { program, type Running, rungate } from './built.ts';

const secret = 'whook-Secret-0123456789';
const env = { RUNGATE_WEBHOOK_SECRET: secret };
const timestamp = '2026-01-15T11:58:00.000Z';

let folder: string;
const children: Running[] = [];
beforeEach(() => {
  folder = folderForTest();
});
afterEach(() => {
  for (const one of children.splice(0)) one.child.kill('SIGKILL');
});

const sign = (body: string | Uint8Array, time = timestamp) =>
  `sha256=${createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex')}`;

function run(args: readonly string[], input?: string | Uint8Array) {
  const { status, stdout, stderr } = spawnSync(program[0], [...program.slice(1), 'webhooks', ...args], {
    env: { ...process.env, ...env },
    ...(input === undefined ? {} : { input }),
  });
  return { code: status, out: stdout.toString(), err: stderr.toString() };
}

async function listen(...args: string[]): Promise<Running & { url: string }> {
  const running = rungate(['webhooks', 'listen', '--port', '0', ...args], env);
  children.push(running);
  let err = '';
  running.child.stderr?.on('data', (chunk) => {
    err += chunk;
  });
  await running.shows(/listening at http:\S+;/);
  return { ...running, url: /listening at (\S+);/.exec(err)?.[1] ?? '' };
}

const deliver = (url: string, body: string) => {
  const time = new Date().toISOString();
  const headers = { 'X-Service-Timestamp': time, 'X-Service-Signature': sign(body, time) };
  return fetch(url, { method: 'POST', body, headers });
};

describe('the built webhooks verify', () => {
  const given = (body: string | Uint8Array) => ['--timestamp', timestamp, '--signature', sign(body)];

  it('reads raw bytes from a pipe, from a file, and from a file as standard input', () => {
    const body = Buffer.from([0xff, 0x00, 0x0d, 0x0a, 0xef, 0xbb, 0xbf]);
    const path = join(folder, 'body');
    writeFileSync(path, body);
    expect(run(['verify', ...given(body)], body).code).toBe(0);
    expect(run(['verify', ...given(body), '--body-file', path]).code).toBe(0);
    const redirected = spawnSync(program[0], [...program.slice(1), 'webhooks', 'verify', ...given(body)], {
      env: { ...process.env, ...env },
      stdio: [openSync(path, 'r'), 'pipe', 'pipe'],
    });
    expect(redirected.status).toBe(0);
    expect(run(['verify', ...given(body)], 'else').code).toBe(1);
  });
});

describe('the built webhooks listen', () => {
  it('ends on a signal, even with open connections and a target that does not respond', async () => {
    const target = createServer(() => {});
    const port = await listenOn(target);
    const on = await listen('--forward-to', `http://127.0.0.1:${port}/`);
    const idle = connect(Number(new URL(on.url).port), '127.0.0.1');
    idle.on('error', () => {});
    const forwarded = new Promise((resolve) => target.once('request', resolve));
    const waiting = deliver(on.url, '{}').catch(() => null);
    await forwarded;
    on.child.kill('SIGINT');
    expect(await on.ended).toMatchObject({ code: 130, signal: null });
    expect(await waiting).toBeNull();
  });
});
