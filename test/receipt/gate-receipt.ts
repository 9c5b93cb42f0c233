import { createHash } from 'node:crypto';
import type { Envelope } from '../../src/receipt/dsse.ts';
import type { Statement } from '../../src/receipt/statement.ts';
import { stage } from '../cli/harness.ts';
import { commit, image, trusted } from './table.ts';

const content = 'the files of the shop';
/** The subjects of the receipt beside the commit. */
export const subjects = {
  image,
  file: { name: 'shop.tar', digest: { sha256: createHash('sha256').update(content).digest('hex') } },
} as const;

/** Runs a gate of a project file against the mock, whose version page shows the image. Returns the receipt, and when the gate ended. */
export async function gateReceipt(): Promise<{ envelope: Envelope; statement: Statement; endedAt: number }> {
  const sha256 = `sha256:${image.digest.sha256}`;
  const on = await stage({ outcome: 'passed', duration: 25_000, deployed: sha256 });
  try {
    const gates = { web: { process: 'checkout', environment: 'staging' } };
    const files: Record<string, string> = {
      '/repo/.git': '',
      '/repo/.rungate.json': JSON.stringify({ project: 'shop', gates }),
      'build/shop.tar': content,
    };
    const env = { RUNGATE_RECEIPT_KEY: trusted.privatePem };
    const page = `${on.mock.url}/_mock/version`;
    const { code, err } = await on.with({ cwd: '/repo', files, env })(
      ...['gate', 'web', '--commit-sha', commit, '--repository', 'acme/shop', '--deployed-url', page],
      ...['--subject', `${image.name}@${sha256}`, '--subject-file', 'build/shop.tar', '--receipt', 'r.json'],
    );
    if (code !== 0) throw new Error(err);
    const envelope: Envelope = JSON.parse(files['r.json'] ?? '');
    const statement = JSON.parse(Buffer.from(envelope.payload, 'base64').toString());
    return { envelope, statement, endedAt: on.clock.now() };
  } finally {
    await on.close();
  }
}
