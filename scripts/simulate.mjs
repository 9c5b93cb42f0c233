// Usage: npm run simulate -- [--minutes <n>] [--seeds <n>] [--seed <n>]
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { parseArgs } from 'node:util';

const options = { minutes: { type: 'string' }, seeds: { type: 'string' }, seed: { type: 'string' } };
const { values } = parseArgs({ options });
const env = { ...process.env };
for (const [name, value] of Object.entries(values)) {
  if (!/^\d+$/.test(value)) throw new Error(`--${name} is not a number: ${value}`);
  env[`SIMULATE_${name.toUpperCase()}`] = value;
}
const args = ['vitest', 'run', '--project', 'runtime', 'test/simulation'];
const { status } = spawnSync('npx', args, { env, stdio: 'inherit' });
process.exitCode = status ?? 1;
