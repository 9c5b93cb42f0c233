/** What the hints of an error call the settings of a client: its user knows flags and variables, or the options of a function. */
export interface HintNames {
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly token: string;
  readonly requestTimeout: string;
  /** How a message about a call begins: with the name of the call, unless its user has just typed it. */
  readonly call: (name: string) => string;
  /** A key of the query, as its user writes it. */
  readonly query: (key: string) => string;
  readonly insecureHttp: string;
  /** Where more certificates to trust are given. */
  readonly ca: string;
  /** What to do about a missing credential, each a whole sentence. */
  readonly give: Readonly<Record<'key' | 'bearer' | 'either', string>>;
  /** How to see a response that was refused. */
  readonly look: string;
  /** How to read one without the check, from its path and query. */
  unchecked(target: string): string;
}

/** The names of the command line. */
export const commandNames: HintNames = {
  apiUrl: 'RUNGATE_API_URL',
  apiKey: 'RUNGATE_API_KEY',
  token: 'RUNGATE_TOKEN',
  requestTimeout: '--request-timeout',
  call: () => '',
  query: (key) => `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
  insecureHttp: '--insecure-http',
  ca: '--ca-file or NODE_EXTRA_CA_CERTS',
  give: {
    key: 'set RUNGATE_API_KEY to an API key of the service, or RUNGATE_API_KEY_FILE to its file, or keep it: rungate login',
    bearer:
      'set RUNGATE_TOKEN to the bearer token of a user session, or RUNGATE_TOKEN_FILE to its file, or keep it: rungate login --token',
    either:
      'set RUNGATE_TOKEN or RUNGATE_API_KEY, or either with _FILE to its file, or keep one: rungate login',
  },
  look: 'to see the response, add --verbose, or --json for error.body',
  unchecked(target) {
    const plain = /^[\w/.%~-]+$/.test(target);
    return `to read it unchecked: rungate api GET ${plain ? target : `"${target}"`}`;
  },
};

/** The names of the library's options: it reads no environment, so that its hints name no variable of rungate. */
export const optionNames: HintNames = {
  apiUrl: 'apiUrl',
  apiKey: 'apiKey',
  token: 'token',
  requestTimeout: 'requestTimeoutMs',
  call: (name) => `${name}: `,
  query: (key) => `query key ${key}`,
  insecureHttp: 'insecureHttp: true',
  ca: 'caPem or NODE_EXTRA_CA_CERTS',
  give: {
    key: 'pass an API key of the service as apiKey; an unset environment variable is undefined',
    bearer: 'pass the bearer token of a user session as token; an unset environment variable is undefined',
    either: 'pass token or apiKey; an unset environment variable is undefined',
  },
  look: "the error's body is the response",
  unchecked: () => 'the option check: false returns it unchecked',
};
