import { spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { trusted } from './table.ts';

const python = '/usr/bin/python3';
const script = fileURLToPath(new URL('verify_receipt.py', import.meta.url));

/** `.ci/run` requires Debian's packages in-toto and python3-securesystemslib. Elsewhere, the tests are skipped without them. */
export const isMissing =
  !process.env.REQUIRE_TOOLS && spawnSync(python, ['-c', 'import in_toto, securesystemslib']).status !== 0;

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
