import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import * as node from '../../src/webhook/node.ts';
import * as web from '../../src/webhook/web.ts';
import { folderForTest } from '../folders.ts';
import { bodyOf, refused, secretOf, vectors } from './vectors.ts';

const folder = fileURLToPath(new URL('../../fixtures/webhooks', import.meta.url));
const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

test.skipIf(!hasOpenssl)('make.sh reproduces the vectors byte for byte', () => {
  const rebuilt = folderForTest();
  execFileSync('bash', [join(folder, 'make.sh'), rebuilt]);
  const files = ['vectors.json', ...readdirSync(join(folder, 'bodies')).map((name) => `bodies/${name}`)];
  for (const file of files) {
    expect(readFileSync(join(rebuilt, file)).equals(readFileSync(join(folder, file))), file).toBe(true);
  }
});

// table.ts has the others.
const valid = vectors.filter(({ name }) => !refused.includes(name));

describe.each(valid)('the openssl vector $name', (vector) => {
  const options = { body: bodyOf(vector.body), secret: secretOf(vector), timestamp: vector.timestamp };
  const { timestamp, signature } = vector;
  const delivery = {
    body: options.body,
    headers: { 'x-service-timestamp': timestamp, 'x-service-signature': signature },
    secrets: [options.secret],
    maxAge: null,
    maxFuture: null,
  };

  test('has the signature that sign gives and verify accepts', async () => {
    expect(node.signSync(options)).toEqual({ timestamp, signature });
    expect(await node.sign(options)).toEqual({ timestamp, signature });
    expect(await web.sign(options)).toEqual({ timestamp, signature });
    expect(node.verifySync(delivery)).toMatchObject({ timestamp, secretIndex: 0 });
    expect(await node.verify(delivery)).toMatchObject({ timestamp, secretIndex: 0 });
    expect(await web.verify(delivery)).toMatchObject({ timestamp, secretIndex: 0 });
  });
});
