import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MockOptions, type MockServer, startMock } from '../../src/mock/server.ts';
import { folderForTest } from '../folders.ts';
import { statement } from '../receipt/table.ts';
import { rungate as run, shellProgram, start } from './built.ts';

let mock: MockServer;
let folder: string;
beforeEach(() => {
  folder = folderForTest();
});
afterEach(() => mock.close());

const commit = 'c'.repeat(40);
const env = () => ({ RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey, COMMIT: commit });
const gate = [
  'run',
  'trigger',
  '--project',
  'shop',
  '--process',
  'checkout',
  '--commit-sha',
  commit,
  '--wait',
];
const rungate = (args: readonly string[], more: Record<string, string> = {}) =>
  run(args, { ...env(), ...more }, {}, folder);
const play = async (options: MockOptions) => {
  mock = await startMock({ retryAfterSeconds: 0.2, ...options });
};

describe.skipIf(process.platform === 'win32')('the full circle in one script', () => {
  it('verifies a file in another folder: the deployed one passes, a changed one does not', async () => {
    mkdirSync(join(folder, 'build'));
    writeFileSync(join(folder, 'build/shop.tar'), 'the files of the shop');
    const sha256 = createHash('sha256').update('the files of the shop').digest('hex');
    await play({ outcome: 'passed', duration: 300, deployed: sha256.slice(0, 12) });
    writeFileSync(
      join(folder, 'circle.sh'),
      `set -eu
rungate() { ${shellProgram} "$@"; }
rungate receipt keygen build/ci
export RUNGATE_RECEIPT_KEY="$(cat build/ci.key)"
rm build/ci.key
rungate gate --project shop --process checkout --environment staging --repository acme/shop --commit-sha "$COMMIT" \\
  --subject-file build/shop.tar --deployed-url "$RUNGATE_API_URL/_mock/version" --receipt build/shop.json
unset RUNGATE_RECEIPT_KEY RUNGATE_API_KEY RUNGATE_API_URL COMMIT
mkdir promotion
cd promotion
cp ../build/* .
verify() { rungate receipt verify shop.json --key ci.pub --subject-file shop.tar --process checkout --environment staging \\
  --repository acme/shop --max-age 1h --require-deployed; }
verify
printf X | dd of=shop.tar conv=notrunc
verify || echo "refused: $?"
`,
    );
    const { out, err, code } = await start('bash', ['circle.sh'], env(), folder).ended;
    expect(out.trimEnd()).toMatch(/refused: 1$/);
    expect(err).toContain('verified: PASSED, signed with ci.pub');
    expect(err).toContain(`refused: it is for "shop.tar@sha256:${sha256}", not "sha256:`);
    expect(code).toBe(0);
    // Nothing that the gate needed, only what verifies.
    expect(readdirSync(join(folder, 'promotion')).toSorted()).toEqual(['ci.pub', 'shop.json', 'shop.tar']);
  });
});

describe('a stopped gate', () => {
  it.each(['SIGTERM', 'SIGKILL'] as const)('leaves no receipt behind after %s', async (signal) => {
    await play({ outcome: 'stuck' });
    writeFileSync(join(folder, 'receipt.json'), JSON.stringify(statement));
    const running = rungate([...gate, '--receipt', 'receipt.json']);
    await running.shows(/in_progress/);
    expect(existsSync(join(folder, 'receipt.json'))).toBe(false);
    running.child.kill(signal);
    await running.ended;
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a device', () => {
  it.skipIf(!existsSync('/dev/stdout'))('/dev/stdout is written to, not removed', async () => {
    await play({ outcome: 'passed', duration: 0 });
    const redirected = `${shellProgram} ${gate.join(' ')} --quiet --receipt /dev/stdout | cat`;
    const { out } = await start('bash', ['-c', redirected], env(), folder).ended;
    expect(JSON.parse(out.slice(out.indexOf('{')))).toMatchObject({ predicate: { result: 'PASSED' } });
    expect(existsSync('/dev/stdout')).toBe(true);
  });
});
