// Compares verifying one delivery with a bare createHmac and with other libraries, in one process and in turn.
// npm run bench:webhook [-- --rounds 31]
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { verify as octokit } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { verify as verifyWeb } from '../dist/webhook/index.js';
import { signSync, verify, verifySync } from '../dist/webhook/node.js';

const at = process.argv.indexOf('--rounds');
const rounds = at < 0 ? 21 : Number(process.argv[at + 1]);
/** Milliseconds that each contender runs in each round. */
const slice = 60;

const secret = 'whsec_4f6e6520666f7220746865206e6577';
const stripe = new Stripe('sk_test_none');
// Its secrets are base64; the key is as long as ours.
const standard = new Webhook(Buffer.from(secret).toString('base64'));

function hex(key, message) {
  return createHmac('sha256', key).update(message).digest('hex');
}

/** Returns functions that verify a delivery signed in their own way, in the form that they process fastest. */
function contenders(text) {
  const body = Buffer.from(text);
  const now = new Date();
  const { timestamp, signature } = signSync({ body, secret });
  const headers = {
    host: 'hooks.example.test',
    'user-agent': 'service/1',
    'content-type': 'application/json',
    'content-length': String(body.length),
    accept: '*/*',
    'x-service-timestamp': timestamp,
    'x-service-signature': signature,
    connection: 'keep-alive',
  };
  const options = { body, headers, secrets: secret, maxAge: 3600 };
  const octokitSignature = `sha256=${hex(secret, text)}`;
  const stripeHeader = stripe.webhooks.generateTestHeaderString({ payload: text, secret });
  const standardHeaders = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': standard.sign('msg_1', now, text),
  };
  return {
    bare: () => {
      const mac = createHmac('sha256', secret)
        .update(`${headers['x-service-timestamp']}.`)
        .update(body)
        .digest();
      return timingSafeEqual(mac, Buffer.from(headers['x-service-signature'].slice(7), 'hex'));
    },
    'rungate verifySync': () => verifySync(options).secretIndex === 0,
    'rungate verify': async () => (await verify(options)).secretIndex === 0,
    'rungate verify, WebCrypto': async () => (await verifyWeb(options)).secretIndex === 0,
    '@octokit/webhooks-methods': () => octokit(secret, text, octokitSignature),
    stripe: () => stripe.webhooks.signature.verifyHeader(text, stripeHeader, secret, 3600),
    // It cannot verify without parsing.
    standardwebhooks: () => standard.verify(text, standardHeaders) !== undefined,
  };
}

/**
 * Calls `call` for about this long and returns calls per second of processor time of all threads of this
 * process: on a busy machine, elapsed time would measure other programs.
 */
async function run(call, milliseconds) {
  let calls = 0;
  const began = process.cpuUsage();
  let spent = 0;
  while (spent < milliseconds * 1000) {
    for (let index = 0; index < 50; index += 1) {
      // Awaiting a value that is not a promise would cost the synchronous contenders a turn of the queue.
      let right = call();
      if (typeof right === 'object') right = await right;
      if (right !== true) throw new Error('not verified');
    }
    calls += 50;
    const { user, system } = process.cpuUsage(began);
    spent = user + system;
  }
  return (calls * 1e6) / spent;
}

function quantile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.round((sorted.length - 1) * part)];
}

const versions = Object.keys(
  JSON.parse(readFileSync(new URL('package.json', import.meta.url))).devDependencies,
)
  .map((name) => {
    const file = new URL(`node_modules/${name}/package.json`, import.meta.url);
    return `${name} ${JSON.parse(readFileSync(file)).version}`;
  })
  .join(', ');
console.log(`Node ${process.version}, ${cpus()[0].model}, ${versions}`);
console.log(
  `medians of ${rounds} rounds in turn, per second of processor time; ratios are relative to the bare call in the same round\n`,
);

for (const [size, bytes] of [
  ['1 KiB', 1024],
  ['100 KiB', 102_400],
]) {
  const frame = JSON.stringify({ event: 'run.completed', data: '' });
  const text = frame.replace('""', `"${'x'.repeat(bytes - frame.length)}"`);
  const all = Object.entries(contenders(text));
  const rates = Object.fromEntries(all.map(([name]) => [name, []]));
  for (const [, call] of all) await run(call, 300);
  for (let round = 0; round < rounds; round += 1) {
    // Each contender begins equally often, because the first one of a round finds a cooler machine.
    const first = round % all.length;
    for (const [name, call] of [...all.slice(first), ...all.slice(0, first)]) {
      rates[name].push(await run(call, slice));
    }
  }
  console.log(`${size.padEnd(28)}${'ops/s'.padStart(10)}${'quartiles'.padStart(20)}${'× bare'.padStart(10)}`);
  for (const [name, values] of Object.entries(rates)) {
    const ratios = values.map((value, round) => value / rates.bare[round]);
    const [low, middle, high] = [0.25, 0.5, 0.75].map((part) => Math.round(quantile(values, part)));
    const ratio = quantile(ratios, 0.5).toFixed(2);
    console.log(
      `${name.padEnd(28)}${String(middle).padStart(10)}${`${low}–${high}`.padStart(20)}${ratio.padStart(10)}`,
    );
  }
  console.log();
}
