// For Node, Bun and Deno: prints what runs here, which build was loaded, and the results.
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

// The same once more with `node:crypto`, which Bun and Deno have too.
const twins = {
  sign: async (options) => node.signSync(options),
  verify: async (options) => node.verifySync(options),
};
const isOne = WebhookVerificationError === node.WebhookVerificationError;

console.log(
  JSON.stringify({
    runtime,
    loaded: import.meta.resolve('rungate/webhook'),
    results: [
      ...(await runWebhook()),
      ...(await runEntry('rungate/webhook/node', twins)),
      { name: 'both entries have one error class', failure: isOne ? null : 'they have two' },
    ],
  }),
);
