import { type Caller, type CallerOptions, createCaller, type ExchangeEvent } from '../client/caller.ts';
import { checkExtraHeaders, parseHeaders } from '../client/headers.ts';
import { formatDuration } from '../duration.ts';
import { ConfigError, type NameOf, UsageError } from '../errors.ts';
import type { HubOptions } from '../gate/fleet/open-hub.ts';
import type { Io } from '../host/io.ts';
import type { Flags } from '../options/table.ts';
import type { Output } from '../output/output.ts';
import { redactor } from '../redact.ts';
import { sanitize } from '../sanitize.ts';
import type { Setting, Settings } from '../settings/names.ts';
import { parseApiUrl, receiver } from '../transport/address.ts';
import { readCa, readIdentity } from './config/certificates.ts';
import {
  emptySecretHints,
  guardCredentials,
  guardHubToken,
  noHub,
  withheldSecretHint,
} from './config/credential-guard.ts';
import type { SettingSources } from './config/sources.ts';
import { exposedNote } from './secret-files.ts';
import { namesFrom, sourceName } from './source-names.ts';

type Connection = Pick<
  CallerOptions,
  'caPem' | 'insecureHttp' | 'proxyEnv' | 'requestTimeoutMs' | 'onExchange'
>;

/** How a command reaches the service. */
export interface Service {
  readonly nameOf: NameOf;
  /** Returns a caller of the service, created when a command first needs it. */
  connect(): Promise<Caller>;
  /** Returns a caller with only this credential, which is not in a profile yet. */
  connectAs(kind: 'apiKey' | 'token', secret: string): Promise<Caller>;
  /** Returns how every connection is made. @throws ConfigError if the CA file cannot be used */
  connection(): Promise<Connection>;
  disconnect(): Promise<void>;
}

/** Returns one line for `--verbose`, without headers and bodies, which may contain secrets. */
function traceExchange(event: ExchangeEvent, excerpt: Output['excerpt']): string {
  if ('waitMs' in event) return `* waiting ${formatDuration(event.waitMs)}: ${excerpt(event.reason)}`;
  const result = event.status ?? event.code ?? '?';
  return `* ${event.method} ${excerpt(event.path)} → ${result} in ${formatDuration(event.elapsedMs)} (request ${event.request})`;
}

/** GitHub withholds variables from pull requests from forks, too, but not from those of Dependabot. */
export function missingApiUrl(io: Io): ConfigError {
  return new ConfigError('no service is set: rungate does not know where to send the request', {
    hint:
      withheldSecretHint(io) ??
      'give --api-url <url>, set RUNGATE_API_URL, save it with rungate login, or write "apiUrl" into .rungate.json; to try rungate without a service: rungate mock exec -- <command>',
  });
}

/** Returns the checked address of the service. @throws ConfigError or UsageError */
export function checkedAddress(
  { value, origin }: Setting<string>,
  insecureHttp: boolean | undefined,
  nameOf: NameOf,
): URL {
  try {
    return parseApiUrl(value, receiver('service', nameOf), insecureHttp);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { message, hint } = error;
    throw origin === 'flag' ? new UsageError(message, { hint, cause: error }) : error;
  }
}

function headersOf({ headers }: Settings): Record<string, string> {
  if (headers === undefined) return {};
  const what = sourceName('headers', headers);
  try {
    return checkExtraHeaders(what, parseHeaders(what, headers.value.join('\n')));
  } catch (cause) {
    throw cause instanceof UsageError ? new ConfigError(cause.message, { hint: cause.hint, cause }) : cause;
  }
}

const credentialNames = { apiKey: 'API key', token: 'bearer token' } as const;

/** The names in hints about a credential that was typed or piped, and about the other one. */
const typedNames = {
  apiKey: { apiKey: 'what you gave', token: 'rungate login --token' },
  token: { token: 'what you gave', apiKey: 'rungate login --api-key' },
} as const;

/** Warns of problems in the sources before anything is sent. */
async function speakOf(
  { withheld, exposed, profile, profilesFile }: SettingSources,
  output: Output,
): Promise<void> {
  for (const { name, origin } of withheld) {
    await output.alert(
      `the ${credentialNames[name]} of profile ${profile.name} was saved for ${sanitize(origin)}: rungate does not send it anywhere else`,
    );
  }
  if (exposed) await output.alert(exposedNote(profilesFile ?? ''));
}

/** Returns a caller that shows slow calls on a terminal. */
function shown(caller: Caller, host: string, { motion }: Output): Caller {
  if (!motion.possible) return caller;
  return {
    exchange: (...call) => motion.during(`waiting for ${sanitize(host)}`, caller.exchange(...call)),
    close: () => caller.close(),
  };
}

/** Returns how to reach the hub: with the same certificates and proxies as the service; null without a hub. */
export async function hubOptionsOf(
  io: Io,
  { insecureHttp }: Flags,
  settings: Settings,
): Promise<Omit<HubOptions, 'clock' | 'nameOf'> | null> {
  const url = settings['hub.url']?.value;
  if (url === undefined || url === noHub) return null;
  return {
    url,
    token: settings.hubTokens?.value[0],
    caPem: settings.caFile && (await readCa(io, settings.caFile)),
    insecureHttp,
    proxyEnv: io.env,
    guard: () => guardHubToken(io, settings),
  };
}

/** Returns the way to the service. Nothing is opened before a command connects. */
export function createService(
  io: Io,
  flags: Flags,
  { settings, sources }: { settings: Settings; sources: SettingSources },
  output: Output,
): Service {
  const callers: Caller[] = [];
  let caller: Caller | undefined;

  const connection = async (): Promise<Connection> => ({
    caPem: settings.caFile && (await readCa(io, settings.caFile)),
    insecureHttp: flags.insecureHttp,
    proxyEnv: io.env,
    requestTimeoutMs: flags.requestTimeout,
    onExchange: output.verbose
      ? (event) => void output.note(traceExchange(event, output.excerpt))
      : undefined,
  });

  async function open(used: Settings, names: NameOf, redact = output.redact): Promise<Caller> {
    guardCredentials(io, used);
    const { apiUrl } = used;
    if (apiUrl === undefined) throw missingApiUrl(io);
    const options = {
      ...(await connection()),
      ...(await readIdentity(io, flags)),
      headers: headersOf(used),
      apiUrl: apiUrl.value,
      apiKey: used.apiKey?.value,
      token: used.token?.value,
      auth: used.auth?.value,
      providerModelField: used['env.providerModelField']?.value,
      clock: io.clock,
      random: io.random,
    };
    // A wrong address is an error for every command.
    const { host } = checkedAddress(apiUrl, flags.insecureHttp, names);
    const opened = shown(createCaller(options, names, redact), host, output);
    callers.push(opened);
    return opened;
  }

  const nameOf = namesFrom(settings, emptySecretHints(io));
  return {
    nameOf,
    connection,
    async connect() {
      if (caller !== undefined) return caller;
      caller = await open(settings, nameOf);
      await speakOf(sources, output);
      return caller;
    },
    async connectAs(kind, secret) {
      const { apiKey: _apiKey, token: _token, auth: _auth, ...others } = settings;
      // As strict as for a stored credential: a project file does not choose its destination.
      const used = { ...others, [kind]: { value: secret, origin: 'profile', detail: undefined } };
      const redactSecret = redactor([secret]);
      return open(used, namesFrom(used, typedNames[kind]), (text) => output.redact(redactSecret(text)));
    },
    async disconnect() {
      for (const one of callers) await one.close();
    },
  };
}
