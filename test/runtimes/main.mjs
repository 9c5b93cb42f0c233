// In Node, Bun and Deno: prints the runtime, the loaded build and the results.
import { WebhookVerificationError } from 'rungate/webhook';
import * as node from 'rungate/webhook/node';
import { runEntry, runWebhook } from './suite.mjs';

const { Bun, Deno, process } = globalThis;
const runtime =
  Bun !== undefined
    ? `Bun ${Bun.version}`
    : Deno !== undefined
      ? `Deno ${Deno.version.deno}`
      : `Node ${process?.version}`;

// Repeats the tests with `node:crypto`, which Bun and Deno also have.
const nodeCrypto = {
  sign: async (options) => node.signSync(options),
  verify: async (options) => node.verifySync(options),
};
const isSame = WebhookVerificationError === node.WebhookVerificationError;

console.log(
  JSON.stringify({
    runtime,
    loaded: import.meta.resolve('rungate/webhook'),
    results: [
      ...(await runWebhook()),
      ...(await runEntry('rungate/webhook/node', nodeCrypto)),
      { name: 'both entries share one error class', failure: isSame ? null : 'they have different classes' },
    ],
  }),
);
