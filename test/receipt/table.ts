// A receipt, its keys and its statement, and changed ones.

import type { Envelope } from '../../src/receipt/dsse.ts';
import { seal } from '../../src/receipt/dsse.ts';
import { readPrivateKey } from '../../src/receipt/keys.ts';
import { payloadType, type ResourceDescriptor, type Statement } from '../../src/receipt/statement.ts';

export const commit = 'd20ace7968ba43c0219f62d71334c1095bab1602';
export const finishedAt = '2026-11-22T12:00:00.000Z';

const pem = (label: string, der: string) => `-----BEGIN ${label}-----\n${der}\n-----END ${label}-----\n`;
const keysOf = (pkcs8: string, spki: string, id: string) => ({
  privatePem: pem('PRIVATE KEY', pkcs8),
  publicPem: pem('PUBLIC KEY', spki),
  id,
});

// Made by openssl genpkey -algorithm ed25519. The id is that of openssl pkey -pubin -outform DER | sha256sum.
export const trusted = keysOf(
  'MC4CAQAwBQYDK2VwBCIEILPngCa0V9f0uOPNEnO3ITCIuUcg8WtvRH0xCtq54omZ',
  'MCowBQYDK2VwAyEAjRrvVZ0G5QGLScbh0n6qdMX2R4IyoCT98PQUBxBdiGU=',
  '7bb60eeb89286a018cc9db4c079e82766674fab99d144a794a2866b12f371eab',
);
export const second = keysOf(
  'MC4CAQAwBQYDK2VwBCIEINsW1xGXZB46NHr+3oQZsS6Qujk00LXwCUWOPDReaFfa',
  'MCowBQYDK2VwAyEAXEHImB8YHl1qxBNJgU7ONQvsKZt1Vn016s22+E22YFg=',
  '86fb565357a85b5f6ee762bf603a6b9c3290c7227ab4a2b7f82575495fc458d5',
);
export const stranger = keysOf(
  'MC4CAQAwBQYDK2VwBCIEIBedVr3FkKBs2s51xPoVrILZkSobBOKpus6IkiX3c920',
  'MCowBQYDK2VwAyEA9mmMvfUyI/64MXC3BfelMiHSK45fV14ZZ9wKKlg7B5I=',
  '7d7993f79a9e47b3f71df6e1a0599a8524c9a8d00902f54d9ff068db99394200',
);

const run = {
  result: 'PASSED',
  verdict: 'passed',
  runId: 'run_1',
  name: 'shop / checkout',
  project: 'shop',
  process: 'checkout',
  tags: null,
  failed: 0,
  blocked: 0,
  appUrl: 'https://service.example.com/runs/run_1',
} as const;

/** The digest of the image that the statement is about. */
export const imageDigest = '9f'.repeat(32);
export const image = { name: 'ghcr.io/acme/shop', digest: { sha256: imageDigest } } as const;

/** A statement in which every fact is known. */
export const statement = {
  _type: 'https://in-toto.io/Statement/v1',
  subject: [{ name: 'acme/shop', digest: { gitCommit: commit } }, image],
  predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
  predicate: {
    result: 'PASSED',
    configuration: [
      {
        name: 'shop / checkout',
        uri: 'https://service.example.com',
        annotations: {
          rungate: {
            schemaVersion: 1,
            rungate: '0.1.0',
            ref: 'main',
            buildUrl: 'https://ci.example.com/builds/1',
            startedAt: '2026-11-22T11:58:00.000Z',
            finishedAt,
            runs: [run],
          },
        },
      },
      {
        name: 'environment',
        uri: 'https://service.example.com/api/environments#staging',
        annotations: { key: 'staging' },
      },
      {
        name: 'policy',
        mediaType: 'application/json',
        content: Buffer.from('{"passed":"pass","failed":"fail"}').toString('base64'),
      },
    ],
    url: run.appUrl,
    passedTests: ['shop / checkout'],
    warnedTests: [],
    failedTests: [],
  },
} as const satisfies Statement;

type Mutable = Record<string, never>;
export type Changeable = { predicate: { configuration: ResourceDescriptor[] } };

/** Returns the statement with one change. */
export function changed(change: (facts: { root: never; facts: never; run: never }) => void): Statement {
  const copy = structuredClone(statement) as never as {
    predicate: { configuration: [{ annotations: { rungate: Mutable } }] };
  };
  const { rungate } = copy.predicate.configuration[0].annotations;
  change({ root: copy as never, facts: rungate as never, run: (rungate.runs as never)[0] });
  return copy as never;
}

/** Returns the statement with a base URL, which a gate names that tested a preview deployment. */
export const preview = (baseUrl: unknown): Statement =>
  changed(({ root }) => {
    const [, environment] = (root as Changeable).predicate.configuration;
    Object.assign(environment ?? {}, { annotations: { key: 'staging', baseUrl } });
  });

export const withRun = (more: object) => changed(({ run }) => Object.assign(run, more));
export const withResult = (result: string) =>
  changed(({ root, run }) => {
    Object.assign((root as Statement).predicate, { result });
    Object.assign(run, { result });
  });

/** Signs any bytes as a payload of any type. */
export async function sealed(
  payload: Uint8Array | string,
  pem = trusted.privatePem,
  type: string = payloadType,
): Promise<Envelope> {
  return seal(Buffer.from(payload), readPrivateKey(pem), type);
}

/** Calls `verifyReceipt` and returns the result of the receipt, or the code and the message of its error. */
export async function outcomeOf(
  verify: (options: never) => Promise<{ result: string }>,
  given: unknown,
): Promise<{ outcome: string; message: string }> {
  try {
    return { outcome: (await verify(given as never)).result, message: '' };
  } catch (error) {
    const { name, code, message } = error as { name?: unknown; code?: unknown; message?: unknown };
    const outcome = name === 'ReceiptError' ? String(code) : `another class: ${String(error)}`;
    return { outcome, message: String(message) };
  }
}
