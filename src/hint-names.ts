/** What the hints of an error call the settings of a client: its user knows flags and variables, or the options of a function. */
export interface HintNames {
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly token: string;
  readonly requestTimeout: string;
  readonly insecureHttp: string;
  /** Where more certificates to trust are given. */
  readonly ca: string;
  /** What to do about a missing credential, each a whole sentence. */
  readonly give: Readonly<Record<'key' | 'bearer' | 'either', string>>;
}

/** The names of the command line. */
export const commandNames: HintNames = {
  apiUrl: 'RUNGATE_API_URL',
  apiKey: 'RUNGATE_API_KEY',
  token: 'RUNGATE_TOKEN',
  requestTimeout: '--request-timeout',
  insecureHttp: '--insecure-http',
  ca: '--ca-file or NODE_EXTRA_CA_CERTS',
  give: {
    key: 'set RUNGATE_API_KEY to an API key of the service, or RUNGATE_API_KEY_FILE to its file, or keep it: rungate login',
    bearer:
      'set RUNGATE_TOKEN to the bearer token of a user session, or RUNGATE_TOKEN_FILE to its file, or keep it: rungate login --token',
    either:
      'set RUNGATE_TOKEN or RUNGATE_API_KEY, or either with _FILE to its file, or keep one: rungate login',
  },
};

/** The names of the library's options: it reads no environment, so that its hints name no variable of rungate. */
export const optionNames: HintNames = {
  apiUrl: 'apiUrl',
  apiKey: 'apiKey',
  token: 'token',
  requestTimeout: 'requestTimeoutMs',
  insecureHttp: 'insecureHttp: true',
  ca: 'caPem or NODE_EXTRA_CA_CERTS',
  give: {
    key: 'pass an API key of the service as apiKey; an unset environment variable is undefined',
    bearer: 'pass the bearer token of a user session as token; an unset environment variable is undefined',
    either: 'pass token or apiKey; an unset environment variable is undefined',
  },
};
