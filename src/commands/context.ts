import { parseDuration } from '../duration.ts';
import { ConfigError, UsageError } from '../errors.ts';
import type { Caller, ClientOptions } from '../http/client.ts';
import type { Io } from '../output/io.ts';
import { createOutput, type Format, type Output } from '../output/output.ts';
import {
  defaultSettings,
  environmentSettings,
  mergeSettings,
  type Settings,
  type SettingValues,
} from '../settings.ts';
import { type GlobalOptions, globalSettings } from './globals.ts';
import { traceExchange } from './trace.ts';

/** What a command works with. It touches nothing of the world but through this. */
export interface Context {
  readonly io: Io;
  readonly settings: Settings;
  readonly output: Output;
  /** A caller for the service, made when a command first needs it. */
  connect(): Promise<Caller>;
  /** Ends what keeps the process alive. */
  close(): Promise<void>;
}

function missingApiUrl(): ConfigError {
  return new ConfigError('no service is set: rungate does not know where to send the request', {
    hint: 'set RUNGATE_API_URL, or give --api-url <url>; to try without a service: rungate mock exec -- <command>',
  });
}

function readPem(io: Io, path: string, source: string): string {
  try {
    return new TextDecoder().decode(io.readFile(path));
  } catch (cause) {
    throw new ConfigError(`the file of certificate authorities cannot be read: ${path}`, {
      hint: `check ${source}`,
      cause,
    });
  }
}

/** Authorities given for one connection take the place of NODE_EXTRA_CA_CERTS in Node before 22.15: so give both. */
function readCa(io: Io, path: string): string {
  const extra = io.env.NODE_EXTRA_CA_CERTS;
  const own = readPem(io, path, '--ca-file');
  return extra === undefined || extra === '' ? own : `${own}\n${readPem(io, extra, 'NODE_EXTRA_CA_CERTS')}`;
}

function clientOptions(io: Io, settings: Settings, globals: GlobalOptions, output: Output): ClientOptions {
  const apiUrl = settings.apiUrl;
  if (apiUrl === undefined) throw missingApiUrl();
  const { requestTimeout } = globals;
  return {
    apiUrl: apiUrl.value,
    ...(settings.apiKey === undefined ? {} : { apiKey: settings.apiKey.value }),
    ...(settings.token === undefined ? {} : { token: settings.token.value }),
    ...(settings.auth === undefined ? {} : { auth: settings.auth.value }),
    ...(settings.caFile === undefined ? {} : { caPem: readCa(io, settings.caFile.value) }),
    ...(settings['env.providerModelField'] === undefined
      ? {}
      : { providerModelField: settings['env.providerModelField'].value }),
    ...(globals.insecureHttp === true ? { insecureHttp: true } : {}),
    ...(requestTimeout === undefined
      ? {}
      : { requestTimeoutMs: parseDuration('--request-timeout', requestTimeout) }),
    ...(output.verbose ? { onExchange: (event) => void output.note(traceExchange(event)) } : {}),
    clock: io.clock,
    random: io.random,
  };
}

/** A flag that cannot be used is a usage error; the same from elsewhere is a configuration error. */
function blame(error: unknown, settings: Settings): unknown {
  const flagged = error instanceof ConfigError && settings.apiUrl?.origin === 'flag';
  return flagged ? new UsageError(error.message, { hint: error.hint, cause: error }) : error;
}

/** Settings from flags and environment, an output that knows every secret, and a client when it is asked for. */
export async function createContext(
  io: Io,
  globals: GlobalOptions,
  flags: Partial<SettingValues> = {},
): Promise<Context> {
  const settings = mergeSettings([
    { origin: 'flag', values: { ...globalSettings(globals), ...flags } },
    environmentSettings(io.env, io.readFile),
    defaultSettings,
  ]);
  const format: Format = settings.format?.value ?? (io.out.isTTY ? 'table' : 'plain');
  const secrets = [settings.apiKey?.value, settings.token?.value].filter((secret) => secret !== undefined);
  const output = await createOutput(io, {
    format,
    quiet: globals.quiet === true,
    verbose: globals.verbose === true,
    secrets,
  });
  let caller: Caller | undefined;
  return {
    io,
    settings,
    output,
    async connect() {
      if (caller !== undefined) return caller;
      const { createCaller } = await import('../http/client.ts');
      const { parseApiUrl } = await import('../http/address.ts');
      try {
        const options = clientOptions(io, settings, globals, output);
        // Before anything else is done: a wrong address is a wrong call, whatever the command.
        parseApiUrl(options.apiUrl, options.insecureHttp);
        caller = createCaller(options);
      } catch (error) {
        throw blame(error, settings);
      }
      return caller;
    },
    async close() {
      await caller?.close();
    },
  };
}
