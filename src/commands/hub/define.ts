import type { Command } from 'commander';
import { type Bind, examples } from '../binding.ts';
import { addOptions } from '../options.ts';
import type { HubFlags } from './options.ts';
import { hubCommand } from './run.ts';

const secrets = `
Secrets: set RUNGATE_WEBHOOK_SECRET (or RUNGATE_TENANT_SECRET) for deliveries
and RUNGATE_HUB_TOKEN for gates, or the same with _FILE for a file. Several
secrets or tokens: one per line. A URL of Redis with a password:
RUNGATE_HUB_REDIS_URL or RUNGATE_HUB_REDIS_URL_FILE. No option takes a secret.

Redis needs the package @redis/client, which rungate does not contain:
  npx -p rungate -p @redis/client rungate hub --redis <url>
`;

export function defineHub(hub: Command, bind: Bind): void {
  hub
    .description(
      'Serve the hub of a fleet of gates until stopped: receive deliveries, wake the gates of the runs that they name, and share the rate limits among all gates.',
    )
    .optionsGroup('Options:')
    .option('--port <port>', 'port to listen on (default 4020; 0 for any free port)')
    .option('--host <host>', 'address to listen on (default 127.0.0.1)')
    .option('--redis <url>', 'Redis that several hubs share (RUNGATE_HUB_REDIS_URL); needs @redis/client')
    .option(
      '--budget <limits>',
      'requests per minute for all gates together (default reads=48,creates=16,requests=80)',
    );
  addOptions(hub, 'hub').addHelpText('after', secrets);
  examples(hub, 'rungate hub --redis redis://redis.internal:6379  # until Ctrl-C');
  bind(hub, {
    run: (context, _args, flags: HubFlags) => hubCommand(context, flags),
  });
}
