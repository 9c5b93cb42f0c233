import type { Command } from 'commander';
import { parseDuration, readDuration } from '../../duration.ts';
import type { Io } from '../../host/io.ts';
import { newCredentials } from '../../mock/auth.ts';
import { homeTenant } from '../../mock/data/account.ts';
import { faultNames, parseFault } from '../../mock/faults/parse.ts';
import { type MockOptions, rateLimits } from '../../mock/options.ts';
import { deliveryScopes } from '../../mock/sender.ts';
import { type Outcome, outcomes } from '../../mock/state.ts';
import { readSecret } from '../../settings/environment.ts';
import { completes } from '../completion/completes.ts';
import { collect, numberUpTo, oneOf } from '../options.ts';

export interface MockFlags {
  port?: string;
  host?: string;
  allowHost?: string[];
  outcome?: string[];
  duration?: string;
  retryAfter?: string;
  seed?: string;
  rateLimit?: string;
  deliver?: string;
  fault?: string[];
  deployed?: string;
}

const faults = `Faults: <kind> is a status code, such as 503, or one of ${faultNames.join(', ')}.
<target> is an endpoint, such as run.status, or deployed; for a fault of a delivery, an event, such as run.completed.
<when> is a number (3), a range (2-5 or 2-), all, a probability (20%) or a time window (5s-10s); without it, the fault affects the first request.`;

export function addMockFlags(command: Command): Command {
  command
    .option('--port <port>', 'port to listen on')
    .option(
      '--outcome <outcome>',
      `how runs end: ${outcomes.join(', ')}; repeat for successive runs`,
      collect,
    )
    .option('--duration <duration>', 'duration of a run (default 2s)')
    .option('--retry-after <seconds>', 'polling interval that the mock suggests')
    .option('--seed <n>', 'seed of ids, API key, token and data (default 1, with a random key and token)')
    .option('--allow-host <name>', 'additional host name to serve (repeatable)', collect)
    .option(
      '--deliver <scope>',
      `where to send webhook deliveries: ${deliveryScopes.join(', ')} (default loopback)`,
    )
    .option(
      '--fault <kind[=duration][@target][:when]>',
      'fault to inject (repeatable; see Faults below)',
      collect,
    )
    .option(
      '--deployed <versions>',
      'versions that the page /_mock/version shows: old,new@30s changes after 30 s, old/new alternates',
    )
    .option('--rate-limit <limits>', `rate limits to enforce: ${rateLimits.join(' or ')} (default off)`)
    .addHelpText('after', () => `\n${command.createHelp().boxWrap(faults, 80)}`);
  completes(command, '--outcome', outcomes);
  completes(command, '--deliver', deliveryScopes);
  completes(command, '--fault', { from: 'faults' });
  return completes(command, '--rate-limit', rateLimits);
}

/** Reads seconds, as the service's field has them; a unit is allowed too. */
function retryAfterSeconds(text: string): number {
  return (readDuration(text) ?? parseDuration('--retry-after', text)) / 1000;
}

export function mockOptions(flags: MockFlags, defaultPort: number, io: Io): MockOptions {
  const { port, duration, retryAfter, seed, rateLimit, deliver = 'loopback' } = flags;
  return {
    clock: io.clock,
    deliveries: oneOf('--deliver', deliveryScopes, deliver),
    tenantSecret: readSecret(io.env, 'RUNGATE_TENANT_SECRET', io.readFile),
    port: port === undefined ? defaultPort : numberUpTo('--port', port, 65_535),
    outcome: flags.outcome?.map((value): Outcome => oneOf('--outcome', outcomes, value)),
    duration: duration === undefined ? undefined : parseDuration('--duration', duration),
    retryAfterSeconds: retryAfter === undefined ? undefined : retryAfterSeconds(retryAfter),
    allowHosts: flags.allowHost,
    faults: flags.fault?.map(parseFault),
    deployed: flags.deployed,
    rateLimit: rateLimit === undefined ? undefined : oneOf('--rate-limit', rateLimits, rateLimit),
    ...(seed === undefined ? newCredentials(homeTenant) : { seed: numberUpTo('--seed', seed, 2 ** 32 - 1) }),
  };
}
