import { constants } from 'node:os';
import type { Help } from 'commander';
import { parseDuration, readDuration } from '../../duration.ts';
import { type StopSignal, UsageError } from '../../errors.ts';
import { exitCodeOfSignal } from '../../exit.ts';
import type { ChildResult } from '../../host/children.ts';
import type { Io } from '../../host/io.ts';
import { newCredentials } from '../../mock/auth.ts';
import { originOf } from '../../mock/cors.ts';
import { type FaultKind, isDeliveryKind, rowOf } from '../../mock/faults/kinds.ts';
import { faultNames, parseFault, shortTargets } from '../../mock/faults/parse.ts';
import { isLoopbackAddress } from '../../mock/listen.ts';
import { deliveryScopes, type MockOptions, rateLimits } from '../../mock/options.ts';
import { type Outcome, outcomes } from '../../mock/runs.ts';
import { type MockServer, startMock } from '../../mock/server.ts';
import { versionUrl } from '../../mock/version-page.ts';
import { readSecret } from '../../settings/environment.ts';
import { noHub } from '../config/credential-guard.ts';
import { numberUpTo, oneOf } from '../options.ts';
import { command, type FlagsOf, repeatable } from '../spec.ts';

const options = {
  '--port <port>': 'port to listen on',
  '--outcome <outcome>': repeatable(
    `how runs end: ${outcomes.join(', ')}; repeat for successive runs`,
    outcomes,
  ),
  '--duration <duration>': 'duration of a run (default 2s)',
  '--retry-after <seconds>': 'polling interval that the mock suggests',
  '--seed <n>': 'seed for ids, API key, token and data (default 1, with a random key and token)',
  '--allow-host <name>': repeatable('additional host name to serve (repeatable)'),
  '--deliver <scope>': {
    help: `where to send webhook deliveries: ${deliveryScopes.join(', ')} (default loopback)`,
    completes: deliveryScopes,
  },
  '--fault <kind[=duration][@target][:when]>': repeatable(
    'fault to inject (repeatable; see Faults below)',
    faultNames,
  ),
  '--deployed <versions>':
    'versions that the page /_mock/version shows: old,new@30s changes after 30 s, old/new alternates',
  '--rate-limit <limits>': {
    help: `rate limits to enforce: ${rateLimits.join(' or ')} (default off)`,
    completes: rateLimits,
  },
} as const;

const serveOptions = {
  ...options,
  '--host <address>': 'address to listen on, such as 0.0.0.0 in a container (default 127.0.0.1)',
  '--cors <origin>': repeatable(
    'origin of web pages that may use the API, such as http://localhost:5173 (repeatable)',
  ),
} as const;
type MockFlags = FlagsOf<typeof serveOptions>;

const faultNotes = `<kind> is a status code, such as 503, or one of the names below.
<target> is an endpoint, such as run.status, or deployed, the version page; ${[...shortTargets.keys()].join(', ')} are those of a run. For a delivery fault, <target> is an event, such as run.completed.
<when> is a number (3), a range (2-5 or 2-), all, a probability (20%) or a time window (5s-10s); without it, the fault affects the first request.`;

function faultHelp(help: Help): string {
  const term = (kind: FaultKind) => (rowOf(kind).duration === undefined ? kind : `${kind}[=duration]`);
  const width = Math.max(...faultNames.map((kind) => term(kind).length));
  const linesOf = (isWanted: boolean) =>
    faultNames
      .filter((kind) => isDeliveryKind(kind) === isWanted)
      .map((kind) => help.formatItem(term(kind), width, rowOf(kind).gets, help));
  return [
    `Faults:\n${help.boxWrap(faultNotes, 80)}`,
    ['The client gets:', ...linesOf(false)].join('\n'),
    ['The receiver of a delivery gets:', ...linesOf(true)].join('\n'),
  ].join('\n\n');
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
    // Seconds, as the service's field has them; a unit is allowed too.
    retryAfterSeconds:
      retryAfter === undefined
        ? undefined
        : (readDuration(retryAfter) ?? parseDuration('--retry-after', retryAfter)) / 1000,
    host: flags.host,
    allowHosts: flags.allowHost,
    cors: flags.cors?.map((origin) => originOf('--cors', origin)),
    faults: flags.fault?.map(parseFault),
    deployed: flags.deployed,
    rateLimit: rateLimit === undefined ? undefined : oneOf('--rate-limit', rateLimits, rateLimit),
    ...(seed === undefined ? newCredentials() : { seed: numberUpTo('--seed', seed, 2 ** 32 - 1) }),
  };
}

export function mockEnvironment(mock: MockServer): Record<string, string> {
  return { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey, RUNGATE_TOKEN: mock.token };
}

/** The default port of `mock serve`: fixed, so that exported settings stay valid. */
const defaultPort = 4010;

export const mockServe = command({
  name: 'serve',
  summary: 'serve the mock until it is stopped',
  description:
    'Serve a mock of the service on this machine (by default on port 4010), and print the settings to export.',
  options: serveOptions,
  notes: faultHelp,
  examples: ['rungate mock serve --outcome failed  # until Ctrl-C'],
  async run(context, _args, flags) {
    const { io, output } = context;
    const mock = await startMock({ ...mockOptions(flags, defaultPort, io), page: true });
    const { url, apiKey, token } = mock;
    const lines = Object.entries(mockEnvironment(mock)).map(([name, value]) => `export ${name}=${value}\n`);
    await output.data({ schemaVersion: 1, url, apiKey, token }, lines.join(''));
    if (output.oneScreen) await output.note('to use the mock, paste these lines into another terminal');
    await output.note(`open ${url}/ to see requests, end runs and switch faults on`);
    if (flags.deployed !== undefined)
      await output.note(`the version page is ${versionUrl(url)}; add .json to get JSON`);
    if (!isLoopbackAddress(mock.address)) await output.note('other machines can also use the mock');
    await output.note(`the mock listens on ${url}; stop it with Ctrl-C`);
    let unsubscribe = () => {};
    const signal = await new Promise<StopSignal>((resolve) => {
      unsubscribe = io.onStop(resolve);
    });
    await mock.close();
    unsubscribe();
    return exitCodeOfSignal(signal);
  },
});

/** Returns the exit code that a shell would give a command that a signal may have ended. */
export function exitCodeOfChild({ code, signal }: ChildResult): number {
  return code ?? 128 + (signal === null ? 0 : (constants.signals[signal] ?? 0));
}

/** Gives the command the settings of a mock in its environment. Returns the command's exit code. */
export const mockExec = command({
  name: 'exec',
  summary: 'run a command against a new mock',
  description:
    'Run a command against a new mock, with the settings of the mock in the environment of the command, and exit with its exit code.',
  args: { '<command...>': '' },
  options,
  wraps: true,
  notes: faultHelp,
  examples: [
    'rungate mock exec -- rungate gate --project shop --tag e2e',
    'rungate mock exec --outcome failed -- ./ci/gate.sh  # exits 1',
  ],
  async run(context, { command }, flags) {
    const { io, output } = context;
    if (command.length === 0)
      throw new UsageError('no command to run', { hint: 'add it after --: rungate mock exec -- <command>' });
    const mock = await startMock(mockOptions(flags, 0, io));
    try {
      return exitCodeOfChild(await io.run(command, { ...io.env, ...withheld, ...mockEnvironment(mock) }));
    } catch (error) {
      if (error instanceof UsageError) throw error;
      const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      await output.alert(`${command[0]}: ${missing ? 'command not found' : 'cannot be run'}`);
      // As in a shell.
      return missing ? 127 : 126;
    } finally {
      await mock.close();
    }
  },
});

/**
 * The user's secrets from files would conflict with those of the mock, and the command must not get them. A hub shares the
 * limits of the real service.
 */
export const withheld = {
  RUNGATE_API_KEY_FILE: undefined,
  RUNGATE_TOKEN_FILE: undefined,
  RUNGATE_HEADERS: undefined,
  RUNGATE_HEADERS_FILE: undefined,
  RUNGATE_HUB_URL: noHub,
  RUNGATE_HUB_TOKEN: undefined,
  RUNGATE_HUB_TOKEN_FILE: undefined,
};
