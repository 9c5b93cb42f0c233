import { createHash } from 'node:crypto';
import type { Envelope } from '../../src/receipt/dsse.ts';
import type { Statement } from '../../src/receipt/statement.ts';
import { artifactText } from '../../src/subject.ts';
import { stage } from '../cli/harness.ts';
import { commit, image, sealed, trusted } from './table.ts';

/** The content of the file. */
export const content = 'the files of the shop';
/** The subjects of the receipt beside the commit. */
export const subjects = {
  image,
  file: { name: 'shop.tar', digest: { sha256: createHash('sha256').update(content).digest('hex') } },
} as const;

/** The base URL that the receipt names. */
export const baseUrl = 'https://pr-7.shop.example.com';

/** A receipt, and the gate that wrote it. */
export interface GateReceipt {
  /** The exit code of the gate. */
  code: number;
  /** The standard output of the gate. */
  out: string;
  envelope: Envelope;
  statement: Statement;
  /** When the gate ended, in milliseconds since the epoch. */
  endedAt: number;
}

/** Runs a gate of a project file against the mock, whose version page shows a digest: by default that of the image. */
export async function gateReceipt(deployed: string = image.digest.sha256): Promise<GateReceipt> {
  const on = await stage({ outcome: 'passed', duration: 25_000, deployed: `sha256:${deployed}` });
  try {
    const gates = { web: { process: 'checkout', environment: 'staging' } };
    const files: Record<string, string> = {
      '/repo/.git': '',
      '/repo/.rungate.json': JSON.stringify({ project: 'shop', gates }),
      'build/shop.tar': content,
    };
    const env = { RUNGATE_RECEIPT_KEY: trusted.privatePem };
    const [path, page] = ['r.json', `${on.mock.url}/_mock/version`];
    const { code, out, err } = await on.with({ cwd: '/repo', files, env })(
      ...['gate', 'web', '--commit-sha', commit, '--repository', 'acme/shop', '--deployed-url', page],
      ...['--subject', artifactText(image), '--subject-file', 'build/shop.tar', '--receipt', path, '--json'],
    );
    const written = files[path];
    if (written === undefined) throw new Error(err);
    const { payload } = JSON.parse(written);
    const statement: Statement = JSON.parse(Buffer.from(payload, 'base64').toString());
    // The gate ran in an environment that exists, so it named no base URL.
    const [, environment] = statement.predicate.configuration;
    Object.assign(environment?.annotations ?? {}, { baseUrl });
    const envelope = await sealed(JSON.stringify(statement));
    return { code, out, envelope, statement, endedAt: on.clock.now() };
  } finally {
    await on.close();
  }
}
