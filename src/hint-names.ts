/** The names of the settings in hints: options and variables on the command line, function options in the library. */
export interface HintNames {
  /** The receiver of the requests. */
  readonly server: 'service' | 'hub' | 'page';
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly token: string;
  readonly hubUrl: string;
  readonly hubToken: string;
  readonly requestTimeout: string;
  /** The JSON pointer of the run id in a create response. */
  readonly idPointer: string;
  /** Tells jobs apart that the CI does not. */
  readonly salt: string;
  /** Returns the beginning of a message about a call: its name in the library, nothing on the command line. */
  readonly call: (name: string) => string;
  /** Returns the name of a query parameter as the user writes it. */
  readonly query: (key: string) => string;
  readonly insecureHttp: string;
  /** The settings of the deployed build. */
  readonly deployed: Readonly<Record<'url' | 'pointer' | 'is' | 'timeout' | 'headers', string>>;
  /** The setting for additional trusted certificates. */
  readonly ca: string;
  /** The remedy for a missing credential, as a complete sentence. */
  readonly give: Readonly<Record<'key' | 'bearer' | 'either', string>>;
  /** How to see a refused response. */
  readonly look: string;
  /** How to read a response without the check, given its path and query. */
  unchecked(target: string): string;
}

export const commandNames: HintNames = {
  server: 'service',
  apiUrl: 'RUNGATE_API_URL',
  apiKey: 'RUNGATE_API_KEY',
  token: 'RUNGATE_TOKEN',
  hubUrl: 'RUNGATE_HUB_URL',
  hubToken: 'RUNGATE_HUB_TOKEN',
  requestTimeout: '--request-timeout',
  idPointer: 'run.idPointer',
  salt: '--idempotency-salt',
  call: () => '',
  query: (key) => `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
  insecureHttp: '--insecure-http',
  deployed: {
    url: '--deployed-url',
    pointer: '--deployed-pointer',
    is: '--deployed-is',
    timeout: '--deployed-timeout',
    headers: '--deployed-header-file',
  },
  ca: '--ca-file or NODE_EXTRA_CA_CERTS',
  give: {
    key: 'set RUNGATE_API_KEY to an API key of the service, or RUNGATE_API_KEY_FILE to its file, or save it: rungate login',
    bearer:
      'set RUNGATE_TOKEN to the bearer token of a user session, or RUNGATE_TOKEN_FILE to its file, or save it: rungate login --token',
    either:
      'set RUNGATE_TOKEN or RUNGATE_API_KEY, or the same with _FILE to a file, or save one: rungate login',
  },
  look: 'to see the response, add --verbose, or read error.body of --json',
  unchecked(target) {
    const plain = /^[\w/.%~-]+$/.test(target);
    return `to read it without the check: rungate api GET ${plain ? target : `"${target}"`}`;
  },
};

/** The names of the library's options. The library does not read the environment, so its hints name no variables. */
export const optionNames: HintNames = {
  server: 'service',
  apiUrl: 'apiUrl',
  apiKey: 'apiKey',
  token: 'token',
  hubUrl: 'hub.url',
  hubToken: 'hub.token',
  requestTimeout: 'requestTimeoutMs',
  idPointer: 'idPointer',
  salt: 'idempotencySalt',
  call: (name) => `${name}: `,
  query: (key) => `query key ${key}`,
  insecureHttp: 'insecureHttp: true',
  deployed: {
    url: 'deployed.url',
    pointer: 'deployed.pointer',
    is: 'deployed.is',
    timeout: 'deployed.timeoutMs',
    headers: 'deployed.headers',
  },
  ca: 'caPem or NODE_EXTRA_CA_CERTS',
  give: {
    key: 'pass an API key of the service as apiKey; an unset environment variable is undefined',
    bearer: 'pass the bearer token of a user session as token; an unset environment variable is undefined',
    either: 'pass token or apiKey; an unset environment variable is undefined',
  },
  look: "the error's body contains the response",
  unchecked: () => 'the option check: false returns it without the check',
};

export function namesForHub(names: HintNames): HintNames {
  return { ...names, server: 'hub', apiUrl: names.hubUrl, token: names.hubToken };
}
