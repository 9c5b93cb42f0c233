/**
 * One of two receivers that get the same delivery at the same time. Each number on standard input starts a round.
 * Arguments: the kind of client, and the port of Redis.
 */
import { createInterface } from 'node:readline';
import type { Verified } from '../../src/webhook/options.ts';
import { createReplayGuard, redisStore } from '../../src/webhook/replay.ts';
import { connectRedis, isClientKind } from './redis-clients.ts';

const [kind = '', port] = process.argv.slice(2);
if (!isClientKind(kind)) throw new Error(`no such client: ${kind}`);
const { client, close } = await connectRedis(kind, Number(port));
const guard = createReplayGuard({ store: redisStore(client) });
process.stdout.write('ready\n');
for await (const round of createInterface({ input: process.stdin })) {
  const verified: Verified = { timestamp: '2026-01-15T12:00:00.000Z', secretIndex: 0, ageSeconds: 0 };
  const signature = `sha256=${Number(round).toString(16).padStart(64, '0')}`;
  process.stdout.write(`${await guard.check(verified, signature)}\n`);
}
await close();
