import type { Endpoint } from '../contract/endpoint.ts';
import { ConfigError, type NameOf, UsageError } from '../errors.ts';
import { parseUrl } from '../parse-url.ts';

/** Characters that an id must not contain: C0, DEL and C1 controls, and unpaired surrogates. */
const unsendable = /[\u0000-\u001f\u007f-\u009f]|\p{Surrogate}/u;

/** Whether the host is `localhost`, `*.localhost`, `127.0.0.0/8` or `::1`: requests to it never leave the machine. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname.replace(/\.$/, ''));
}

/** Whether the service runs on this machine, where no other job shares its rate limits. */
export function isLocal(apiUrl: string): boolean {
  return isLoopback(parseUrl(apiUrl)?.hostname ?? '');
}

/** The receiver of requests, and the settings about it as its user writes them, for errors. */
export interface Receiver {
  readonly server: 'service' | 'hub' | 'page' | 'deployment' | 'proxy' | 'GitHub API';
  /** The setting with its URL. */
  readonly address: string;
  /** The settings with the credential of requests; empty if they have none. */
  readonly credential: string;
  readonly insecureHttp: string;
  /** The settings with the certificate of a private CA. */
  readonly trust: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** The ids of the setting with the URL, and of those with a credential. */
const settingsOf = {
  service: ['apiUrl', 'apiKey', 'token'],
  hub: ['hub.url', 'hubTokens'],
  'GitHub API': ['githubApi', 'githubToken'],
  page: ['deployed.url', 'deployedHeaderFile'],
  deployment: ['preview.baseUrl'],
} as const;

export function receiver(server: keyof typeof settingsOf, nameOf: NameOf): Receiver {
  const [address, ...credentials] = settingsOf[server];
  return {
    server,
    address: nameOf(address),
    credential: credentials.map((id) => nameOf(id)).join(' or '),
    insecureHttp: nameOf('insecureHttp'),
    trust: nameOf('trust'),
    certFile: nameOf('certFile'),
    keyFile: nameOf('keyFile'),
  };
}

/** Whether requests go to a URL as it is, instead of to paths below it. */
export const mayHaveQuery = (server: Receiver['server']) => server === 'page' || server === 'deployment';

/**
 * Returns the base URL of the service or of the hub, or the URL of a page or a deployment: https (http only to this machine
 * unless `insecureHttp`), with at most a path; that of a page or a deployment may have a query. Errors never repeat the address, which may contain a password.
 * @throws ConfigError
 */
export function parseApiUrl(
  address: string,
  { server, address: setting, credential, insecureHttp: allowHttp }: Receiver,
  insecureHttp = false,
): URL {
  const text = address.trim();
  const port = server === 'hub' ? 4020 : 4010;
  const example = `set ${setting} to a URL like https://${server.replace(' ', '-').toLowerCase()}.example.com, or http://localhost:${port} for a local ${server}`;
  const problem = (what: string, hint = example) =>
    new ConfigError(`the URL of the ${server} ${what}`, { hint });
  if (text === '') throw problem('is not set');
  if (/["'${}%<>]|\s/.test(text.replace(/%[0-9a-f]{2}/gi, ''))) {
    throw problem(
      'contains a space, a quote or one of $ { } % < >',
      `check ${setting}: it may contain quotes, or a placeholder that was not replaced`,
    );
  }
  const url = parseUrl(text);
  if (url === null) throw problem('is not a URL');
  if (!/^https?:$/.test(url.protocol)) throw problem('must begin with https:// or http://');
  if (url.username !== '' || url.password !== '') {
    const hint = credential === '' ? 'remove them' : `set the credential as ${credential}`;
    throw problem('must not contain a user name or password', hint);
  }
  if (text.includes('#') || (!mayHaveQuery(server) && text.includes('?')))
    throw problem(`must not have ${mayHaveQuery(server) ? '' : 'a query or '}a fragment`);
  if (url.protocol === 'http:' && !insecureHttp && !isLoopback(url.hostname)) {
    const sent = mayHaveQuery(server) ? 'the request' : 'the credential';
    throw problem(
      `uses http, which is not encrypted: ${url.hostname}`,
      `use https://; ${allowHttp} allows http, which sends ${sent} unencrypted`,
    );
  }
  return url;
}

/** Returns the address without the query, which may contain a secret. */
export function shownUrl({ origin, pathname, search }: URL): string {
  return `${origin}${pathname}${search === '' ? '' : '?…'}`;
}

/** Returns a URL without its query, as people write it: `https://shop.example`, not `https://shop.example/`. */
export function bareUrl({ origin, pathname }: URL): string {
  return pathname === '/' ? origin : `${origin}${pathname}`;
}

/** Returns what may be secret in the query of a URL: all of it, and each longer value. */
export function querySecrets(address: string | undefined): string[] {
  const query = parseUrl(address ?? '')?.search.slice(1) ?? '';
  const values = query.split('&').flatMap((pair) => {
    const raw = pair.slice(pair.indexOf('=') + 1);
    return [raw, ...new URLSearchParams(pair).values()];
  });
  return query === '' ? [] : [query, ...values.filter((value) => value.length >= 8)];
}

/** Returns why a value cannot be part of a path, as the end of a sentence, or null if it can. */
export function paramProblem(value: string): string | null {
  if (value === '') return 'must not be empty';
  if (value === '.' || value === '..')
    return `must not be ${JSON.stringify(value)}: it would change the path`;
  if (unsendable.test(value)) return 'must not contain control characters or invalid Unicode';
  return null;
}

/**
 * Returns the endpoint's path with its parameters filled in, percent-encoded: a value never adds or removes a segment.
 * @param call the beginning of messages about the call
 * @throws UsageError before anything is sent
 */
export function fillPath(endpoint: Endpoint, params: Readonly<Record<string, string>>, call = ''): string {
  const last = endpoint.path.lastIndexOf('{');
  return endpoint.path.replace(/\{([^{}]+)\}/g, (_, param: string, index: number) => {
    const value = params[param] ?? '';
    const isReserved = index === last && endpoint.reserved?.includes(value);
    const reserved = isReserved ? `must not be "${value}": that path belongs to another endpoint` : null;
    const problem = paramProblem(value) ?? reserved;
    if (problem !== null) {
      throw new UsageError(`${call}${param} ${problem}`, {
        hint: `copy ${param} exactly as the service shows it`,
      });
    }
    return encodeURIComponent(value);
  });
}

function queryText(key: string, value: unknown, call: string, nameOf: NameOf): string {
  if (typeof value === 'string' && !/\p{Surrogate}/u.test(value)) return value;
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  throw new UsageError(
    `${call}${nameOf('query', key)} must be a string, a number, a boolean or a list of these`,
  );
}

/**
 * Returns the encoded query with its `?`, or an empty string. Leaves out undefined values, and repeats the key for each
 * item of a list.
 * @param call the beginning of messages about the call
 * @throws UsageError for a value that has no text form
 */
export function queryString(query: Readonly<Record<string, unknown>>, call: string, nameOf: NameOf): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const item of Array.isArray(value) ? value : [value])
      search.append(key, queryText(key, item, call, nameOf));
  }
  return search.size === 0 ? '' : `?${search}`;
}
