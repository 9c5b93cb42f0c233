import { type Caller, type CallerOptions, createCaller, type ExchangeEvent } from '../client/caller.ts';
import { checkExtraHeaders, parseHeaders } from '../client/headers.ts';
import { formatDuration } from '../duration.ts';
import { ConfigError, UsageError } from '../errors.ts';
import type { Io } from '../host/io.ts';
import { secretParts } from '../options/secret-parts.ts';
import type { Flags } from '../options/table.ts';
import { createOutput, type Format, type Output } from '../output/output.ts';
import { redactor } from '../redact.ts';
import { sanitize } from '../sanitize.ts';
import type { Settings, SomeSettings } from '../settings/names.ts';
import { parseApiUrl, querySecrets } from '../transport/address.ts';
import { proxySecrets } from '../transport/proxy.ts';
import { readCa, readIdentity } from './config/certificates.ts';
import { emptySecretHints, guardCredentials, withheldSecretHint } from './config/credential-guard.ts';
import { loadSettings, type SettingSources, type SourceOptions } from './config/sources.ts';
import { namesFrom, sayAlso, sourceName } from './source-names.ts';
import { unreadVariables } from './unread-variables.ts';

/** Returns one line for `--verbose`, without headers and bodies, which may contain secrets. */
function traceExchange(event: ExchangeEvent, excerpt: Output['excerpt']): string {
  if ('waitMs' in event) return `* waiting ${formatDuration(event.waitMs)}: ${excerpt(event.reason)}`;
  const result = event.status ?? event.code ?? '?';
  return `* ${event.method} ${excerpt(event.path)} → ${result} in ${formatDuration(event.elapsedMs)} (request ${event.request})`;
}

type Connection = Pick<
  CallerOptions,
  'caPem' | 'insecureHttp' | 'proxyEnv' | 'requestTimeoutMs' | 'onExchange'
>;

/** Everything a command uses: it reaches its surroundings only through this. */
export interface Context {
  readonly io: Io;
  /** The command line without `rungate`; empty if there is none. */
  readonly argv: readonly string[];
  /** The options of the command line that have rows. */
  readonly flags: Flags;
  readonly settings: Settings;
  readonly sources: SettingSources;
  readonly output: Output;
  /** Returns a caller of the service, created when a command first needs it. */
  connect(): Promise<Caller>;
  /** Returns a caller with only this credential, which is not in a profile yet. */
  connectAs(kind: 'apiKey' | 'token', secret: string): Promise<Caller>;
  /** Returns how every connection is made. @throws ConfigError if the CA file cannot be used */
  connection(): Promise<Connection>;
  /** Closes everything that keeps the process alive. */
  close(): Promise<void>;
}

/** GitHub withholds variables from pull requests from forks, too, but not from those of Dependabot. */
function missingApiUrl(io: Io): ConfigError {
  return new ConfigError('no service is set: rungate does not know where to send the request', {
    hint:
      withheldSecretHint(io) ??
      'give --api-url <url>, set RUNGATE_API_URL, save it with rungate login, or write "apiUrl" into .rungate.json; to try rungate without a service: rungate mock exec -- <command>',
  });
}

async function connectionOf(
  io: Io,
  { caFile }: Settings,
  { insecureHttp, requestTimeout }: Flags,
  output: Output,
): Promise<Connection> {
  return {
    caPem: caFile && (await readCa(io, caFile)),
    insecureHttp,
    proxyEnv: io.env,
    requestTimeoutMs: requestTimeout,
    onExchange: output.verbose
      ? (event) => void output.note(traceExchange(event, output.excerpt))
      : undefined,
  };
}

/** Returns the extra headers of the requests to the service. @throws ConfigError */
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

/** Warns of what cannot or will not be read: then the settings are others than the user thinks. */
async function speakOfUnread(io: Io, { unreadable }: SettingSources, output: Output): Promise<void> {
  if (unreadable !== null)
    await output.warn(
      `${sanitize(unreadable.message)}; rungate continues without a profile`,
      unreadable.hint,
    );
  const unread = unreadVariables(io);
  if (unread !== null) await output.warn(unread.problem, unread.remedy);
}

const exposedNote = (path: string) =>
  `other users may be able to read your secrets: run chmod 600 ${sanitize(path)}`;

/** Warns if other users may read a file with secrets. Windows has no file modes. @throws a file system error */
export async function warnIfExposed(
  { io, output }: Pick<Context, 'io' | 'output'>,
  path: string,
): Promise<void> {
  if (io.platform !== 'win32' && io.inspect(path).exposed) await output.alert(exposedNote(path));
}

/** Warns, on Windows, that the permissions of the folder apply to a new file with a secret: Windows has no file modes. */
export async function warnOfFolder(
  { io, output }: Pick<Context, 'io' | 'output'>,
  path: string,
): Promise<void> {
  if (io.platform !== 'win32') return;
  await output.warn(
    `Windows has no file modes: everyone who may read its folder can read ${sanitize(path)}`,
    'choose a folder that only you can read, such as one in your user profile',
  );
}

/** Returns a caller that shows slow calls on a terminal. */
function shown(caller: Caller, host: string, { motion }: Output): Caller {
  if (!motion.possible) return caller;
  return {
    ...caller,
    exchange: (...call) => motion.during(`waiting for ${sanitize(host)}`, caller.exchange(...call)),
  };
}

/** Returns a context: settings from all sources, an output that knows every secret, and a client on demand. */
export async function createContext(
  io: Io,
  flags: Flags,
  given: SomeSettings = {},
  options: SourceOptions & Partial<Pick<Context, 'argv'>> = {},
): Promise<Context> {
  const { settings, sources } = await loadSettings(io, flags, given, options);
  // A script reads tab-separated values; people read the log of the action.
  const isLog = settings.format === undefined && !io.out.isTTY && io.isLog === true;
  const format: Format = settings.format?.value ?? (io.out.isTTY || isLog ? 'table' : 'plain');
  const secrets = [
    settings.apiKey?.value,
    settings.token?.value,
    settings.tenantSecret?.value,
    ...(settings.webhookSecrets?.value ?? []),
    ...(settings.hubTokens?.value ?? []),
    ...secretParts('headers', settings.headers?.value.join('\n') ?? ''),
    ...secretParts('receiptKey', settings.receiptKey?.value ?? ''),
    ...sources.withheld.map(({ secret }) => secret),
    ...proxySecrets(io.env),
    ...[settings, ...sources.gates.map((gate) => gate.settings)].flatMap((own) => [
      ...querySecrets(own['preview.baseUrl']?.value),
      ...querySecrets(own['preview.readyUrl']?.value),
    ]),
  ].filter((secret) => secret !== undefined);
  const output = await createOutput(io, {
    format,
    isLog,
    quiet: flags.quiet === true,
    verbose: flags.verbose === true,
    secrets,
  });
  const callers: Caller[] = [];
  let caller: Caller | undefined;
  if (options.showsUnreadable !== true) await speakOfUnread(io, sources, output);

  async function open(
    own: Settings,
    words: Readonly<Record<string, string>>,
    redact = output.redact,
  ): Promise<Caller> {
    const nameOf = sayAlso(words, namesFrom(own));
    guardCredentials(io, own);
    const { apiUrl } = own;
    if (apiUrl === undefined) throw missingApiUrl(io);
    const options = {
      ...(await connectionOf(io, own, flags, output)),
      ...(await readIdentity(io, flags)),
      headers: headersOf(own),
      apiUrl: apiUrl.value,
      apiKey: own.apiKey?.value,
      token: own.token?.value,
      auth: own.auth?.value,
      providerModelField: own['env.providerModelField']?.value,
      clock: io.clock,
      random: io.random,
    };
    try {
      // First of all, because a wrong address is an error for every command.
      parseApiUrl(options.apiUrl, options.insecureHttp);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const { message, hint } = error;
      throw (apiUrl.origin === 'flag' ? new UsageError(message, { hint, cause: error }) : error).word(nameOf);
    }
    const opened = shown(createCaller(options, redact, nameOf), new URL(options.apiUrl).host, output);
    callers.push(opened);
    return opened;
  }

  return {
    io,
    argv: options.argv ?? [],
    flags,
    settings,
    sources,
    output,
    async connect() {
      if (caller !== undefined) return caller;
      caller = await open(settings, emptySecretHints(io));
      await speakOf(sources, output);
      return caller;
    },
    async connectAs(kind, secret) {
      const { apiKey: _apiKey, token: _token, auth: _auth, ...others } = settings;
      // As strict as for a stored credential: a project file does not choose its destination.
      const own = { ...others, [kind]: { value: secret, origin: 'profile', detail: undefined } };
      const redactOwn = redactor([secret]);
      return open(own, typedNames[kind], (text) => output.redact(redactOwn(text)));
    },
    connection: () => connectionOf(io, settings, flags, output),
    async close() {
      output.motion.end();
      for (const one of callers) await one.close();
    },
  };
}
