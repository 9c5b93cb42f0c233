import { spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { trusted } from './table.ts';

const python = '/usr/bin/python3';
const script = fileURLToPath(new URL('verify_receipt.py', import.meta.url));
const schema = fileURLToPath(new URL('../../fixtures/in-toto/in_toto_attestation', import.meta.url));

const succeeds = (command: string, argv: readonly string[]) => spawnSync(command, argv).status === 0;
const imports = (modules: string) => succeeds(python, ['-c', `import ${modules}`]);

/** `.ci/run` requires Debian's packages in-toto and python3-securesystemslib. Elsewhere, the tests are skipped without them. */
export const isMissing = !process.env.REQUIRE_TOOLS && !imports('in_toto, securesystemslib');

/** As before, and protobuf-compiler, libprotobuf-dev and python3-protobuf. */
export const isSchemaMissing =
  isMissing ||
  (!process.env.REQUIRE_TOOLS &&
    !(
      succeeds('protoc', ['--version']) &&
      existsSync('/usr/include/google/protobuf/struct.proto') &&
      imports('google.protobuf')
    ));

/** The last 32 bytes of an Ed25519 key in DER. */
const rawPublic = (pem: string) =>
  createPublicKey(pem).export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');

/** Runs the Python program, which trusts our key. */
export function run(input: object) {
  const key = { keyid: trusted.id, public: rawPublic(trusted.publicPem) };
  const { stdout, stderr, status } = spawnSync(python, [script], {
    input: JSON.stringify({ ...key, ...input }),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** Runs the Python program with in-toto's package, whose messages are compiled from its schema. */
export function runWithSchema(input: object) {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-in-toto-'));
  try {
    cpSync(schema, join(folder, 'in_toto_attestation'), { recursive: true });
    const files = ['v1/statement', 'v1/resource_descriptor', 'predicates/test_result/v0/test_result'];
    const argv = files.map((file) => `in_toto_attestation/${file}.proto`);
    const { status, stderr } = spawnSync('protoc', ['-I', '.', '--python_out=.', ...argv], {
      cwd: folder,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stderr);
    return run({ ...input, path: [folder] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
