import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemIo } from '../../../src/host/io.ts';
import { cli, memoryIo } from '../../cli/harness.ts';
import { main } from '../../cli/main.ts';
import { fakeClock } from '../../fake-clock.ts';
import {
  changed,
  commit,
  finishedAt,
  sealed,
  type statement,
  stranger,
  trusted,
} from '../../receipt/table.ts';

/** Returns a signed receipt of a gate. */
async function of(gate: unknown, result: 'PASSED' | 'WARNED' | 'FAILED' = 'PASSED', pem?: string) {
  const text = JSON.stringify(
    changed(({ root, facts, run }) => {
      Object.assign((root as typeof statement).predicate, { result });
      Object.assign(run, { result });
      if (gate !== undefined) Object.assign(facts, { gate });
    }),
  );
  return JSON.stringify(await sealed(text, pem));
}

const clock = { ...fakeClock(), now: () => Date.parse(finishedAt) + 5000 };
const trust = ['--key', 'ci.pub', '--commit', commit];

function verify(argv: readonly string[], receipts: Readonly<Record<string, string>>) {
  const files = { 'ci.pub': trusted.publicPem, ...receipts };
  return cli(['receipt', 'verify', ...argv, ...trust], { clock, files });
}

const [web, api] = [await of('web'), await of('api')];
const failed = await of('web', 'FAILED');

describe('receipt verify with several receipts', () => {
  it('prints one line for each, and one JSON document with the checks of each', async () => {
    const receipts = { 'r/web.json': web, 'r/api.json': await of('api', 'FAILED'), 'r/notes.txt': 'x' };
    const { code, out, err } = await verify(['r'], receipts);
    expect({ code, out, err }).toEqual({
      code: 1,
      out: 'r/api.json\tapi\tfailed\tits result is FAILED\nr/web.json\tweb\tpassed\t\n',
      err: 'refused: r/api.json: its result is FAILED (result)\nverified: r/web.json: PASSED, signed with ci.pub, 5 s old\n',
    });
    const json = JSON.parse((await verify(['r/', '--json'], receipts)).out);
    const checks = expect.arrayContaining([{ check: 'commit', status: 'passed', reason: null }]);
    expect(json).toMatchObject({
      schemaVersion: 1,
      verified: false,
      missing: [],
      receipts: [
        { file: 'r/api.json', gate: 'api', verified: false, failed: 'result', checks, statement: null },
        { file: 'r/web.json', gate: 'web', verified: true, failed: null, checks, key: 'ci.pub' },
      ],
    });
  });

  it.each<[string, readonly string[], Readonly<Record<string, string>>, number]>([
    ['all passed', ['a.json', 'b.json'], { 'a.json': web, 'b.json': api }, 0],
    [
      'each gate has a receipt',
      ['r', '--gate', 'web', '--gate', 'api'],
      { 'r/1.json': web, 'r/2.json': api },
      0,
    ],
    ['a gate is missing', ['r', '--gate', 'web', '--gate', 'api'], { 'r/api.json': web }, 1],
    ['a gate is written in another case', ['a.json', '--gate', 'Web'], { 'a.json': web }, 1],
    ['a gate both passed and failed', ['r', '--gate', 'web'], { 'r/1.json': web, 'r/2.json': failed }, 1],
    ['a receipt is given twice', ['r', 'r/1.json', '--gate', 'web'], { 'r/1.json': web, 'r/2.json': web }, 0],
    [
      'a gate that is not required failed',
      ['r', '--gate', 'api'],
      { 'r/1.json': failed, 'r/2.json': api },
      1,
    ],
    ['a file is not a receipt', ['r', '--gate', 'web'], { 'r/1.json': web, 'r/package.json': '{}' }, 1],
    ['the folder is empty', ['r'], { 'r/readme.md': '' }, 1],
    ['a folder is called like a receipt', ['r'], { 'r/1.json': web, 'r/2.json/x': '' }, 64],
  ])('%s', async (_what, argv, receipts, code) => {
    expect((await verify(argv, receipts)).code).toBe(code);
  });

  it('does not believe the gate of a receipt that no trusted key signed', async () => {
    const forged = await of('web', 'PASSED', stranger.privatePem);
    const { code, out } = await verify(['a.json', '--gate', 'web', '--json'], { 'a.json': forged });
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      missing: ['web'],
      receipts: [{ gate: null, failed: 'signature' }],
    });
  });

  it.each([7, null, ''])('refuses a receipt with the gate %j', async (gate) => {
    const { code, err } = await verify(['a.json'], { 'a.json': await of(gate) });
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('rungate.gate is missing or invalid (statement)\n'),
    ]);
  });
});

describe('receipt verify with a folder on the disk', () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  async function verifyFolder(fill: (folder: string) => void, vanished?: string) {
    const folder = mkdtempSync(join(tmpdir(), 'rungate-receipts-'));
    folders.push(folder);
    fill(folder);
    const { io, printed } = memoryIo({ clock, files: { 'ci.pub': trusted.publicPem } });
    const readFile: typeof io.readFile = (path, most) => {
      if (!path.startsWith(folder)) return io.readFile(path, most);
      if (vanished !== undefined) rmSync(join(folder, vanished), { force: true });
      return systemIo.readFile(path, most);
    };
    const { namesInFolder } = systemIo;
    const argv = ['receipt', 'verify', folder, '--gate', 'web', ...trust];
    return { code: await main(argv, { ...io, readFile, namesInFolder }), err: printed().err };
  }

  it('follows a link to a receipt, and refuses one that leads nowhere', async () => {
    const linked = await verifyFolder((folder) => {
      writeFileSync(join(folder, 'web.txt'), web);
      symlinkSync('web.txt', join(folder, 'web.json'));
    });
    expect(linked.code).toBe(0);
    const dangling = await verifyFolder((folder) => {
      writeFileSync(join(folder, 'web.json'), web);
      symlinkSync('gone', join(folder, 'x.json'));
    });
    expect(dangling).toMatchObject({ code: 64, err: expect.stringContaining('x.json: no such file') });
  });
});
