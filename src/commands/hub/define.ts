import type { Command } from 'commander';
import { type Bind, examples } from '../binding.ts';
import { headerNameSettings } from '../webhooks/secrets.ts';
import type { HubFlags } from './options.ts';

const secrets = `
Secrets: set RUNGATE_WEBHOOK_SECRET (or RUNGATE_TENANT_SECRET) for deliveries
and RUNGATE_HUB_TOKEN for gates, or the same with _FILE for a file. Several
secrets or tokens: one per line. A URL of Redis with a password:
RUNGATE_HUB_REDIS_URL or RUNGATE_HUB_REDIS_URL_FILE. No option takes a secret.
`;

/** Defines `rungate hub` */
export function defineHub(hub: Command, bind: Bind): void {
  hub
    .description(
      'Serve the hub of a fleet of gates until stopped: receive deliveries, wake the gates of the runs that they name, and share the rate limits among all gates.',
    )
    .optionsGroup('Options:')
    .option('--port <port>', 'port to listen on (default 4020; 0 for any free port)')
    .option('--host <host>', 'address to listen on (default 127.0.0.1)')
    .option('--redis <url>', 'Redis that several hubs share (RUNGATE_HUB_REDIS_URL)')
    .option(
      '--budget <limits>',
      'requests per minute for all gates together (default reads=48,creates=16,requests=80)',
    )
    .option('--timestamp-header <name>', "the service's name for X-Service-Timestamp")
    .option('--signature-header <name>', "the service's name for X-Service-Signature")
    .addHelpText('after', secrets);
  examples(hub, 'rungate hub --redis redis://redis.internal:6379  # until Ctrl-C');
  bind(hub, {
    settings: async (flags: HubFlags) => headerNameSettings(flags),
    run: async (context, _args, flags: HubFlags) => (await import('./run.ts')).hubCommand(context, flags),
  });
}
