import { type Endpoint, pathParams } from '../contract/endpoint.ts';
import { ConfigError, UsageError } from '../errors.ts';
import { commandNames, type HintNames } from '../hint-names.ts';
import { parseUrl } from '../parse-url.ts';

/** Characters that have no business in an id: C0, DEL and C1 controls, and halves of surrogate pairs. */
const unsendable = /[\u0000-\u001f\u007f-\u009f]|\p{Surrogate}/u;

/** `localhost`, `*.localhost`, `127.0.0.0/8` and `::1`: what is sent there does not leave the machine. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname.replace(/\.$/, ''));
}

/** Whether the service is on this machine, where it has no limits to share. */
export function isLocal(apiUrl: string): boolean {
  return isLoopback(parseUrl(apiUrl)?.hostname ?? '');
}

/**
 * The service's base URL, checked: https (http only to this machine unless `insecureHttp`), a path prefix at
 * most. Never echoes the address: one with a password in it would end up in a log.
 * @throws ConfigError
 */
export function parseApiUrl(apiUrl: string, insecureHttp = false, names = commandNames): URL {
  const text = apiUrl.trim();
  const example = `write ${names.apiUrl} like https://service.example.com, or http://localhost:4010 for this machine`;
  const problem = (what: string, hint = example) =>
    new ConfigError(`the address of the service ${what}`, { hint });
  if (text === '') throw problem('is not set');
  if (/^["'“‘]/.test(text)) throw problem('begins with a quote', `take the quotes out of ${names.apiUrl}`);
  if (/[${}%<>]|\s/.test(text.replace(/%[0-9a-f]{2}/gi, ''))) {
    const hint = `check ${names.apiUrl}: a placeholder that nothing replaced has such characters`;
    throw problem('has a space or one of $ { } % < > in it', hint);
  }
  const url = parseUrl(text);
  if (url === null) throw problem('is not a URL');
  if (!/^https?:$/.test(url.protocol)) throw problem('must begin with https:// or http://');
  if (url.username !== '' || url.password !== '') {
    const hint = `give the credential as ${names.apiKey} or ${names.token}`;
    throw problem('must not carry a user name or a password', hint);
  }
  if (/[?#]/.test(text)) throw problem('must not have a query or a fragment');
  if (url.protocol === 'http:' && !insecureHttp && !isLoopback(url.hostname)) {
    const hint = `use https://; ${names.insecureHttp} sends credentials over it all the same`;
    throw problem(`is not encrypted: http to ${url.hostname}`, hint);
  }
  return url;
}

/** Why a value cannot stand in a path, as the end of a sentence, or null. */
export function paramProblem(value: unknown): string | null {
  if (typeof value !== 'string') return 'must be a string';
  if (value === '') return 'must not be empty';
  if (value === '.' || value === '..')
    return `must not be ${JSON.stringify(value)}: it would change the path`;
  if (unsendable.test(value)) return 'must not contain control characters or broken text';
  return null;
}

/**
 * The endpoint's path with its parameters filled in, percent-encoded: a value never adds or removes a segment.
 * @throws UsageError before anything is sent
 */
export function fillPath(
  name: string,
  endpoint: Endpoint,
  params: Readonly<Record<string, string>>,
  { call } = commandNames,
): string {
  const names = pathParams(endpoint.path);
  const extra = Object.keys(params).find((given) => !names.includes(given));
  if (extra !== undefined) {
    throw new UsageError(`${call(name)}the path has no parameter ${extra}`, {
      hint: names.length === 0 ? 'give none' : `its parameters are ${names.join(', ')}`,
    });
  }
  for (const param of names) {
    const value: unknown = Object.hasOwn(params, param) ? params[param] : undefined;
    const isReserved = param === names.at(-1) && endpoint.reserved?.includes(String(value));
    const reserved = isReserved ? `must not be "${value}": that path belongs to another call` : null;
    const problem = value === undefined ? 'is missing' : (paramProblem(value) ?? reserved);
    if (problem !== null) {
      throw new UsageError(`${call(name)}${param} ${problem}`, {
        hint: `give ${param} as the service shows it`,
      });
    }
  }
  return endpoint.path.replace(/\{([^{}]+)\}/g, (_, param: string) =>
    encodeURIComponent(params[param] ?? ''),
  );
}

function queryText(name: string, key: string, value: unknown, { call, query }: HintNames): string {
  if (typeof value === 'string' && !/\p{Surrogate}/u.test(value)) return value;
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  throw new UsageError(`${call(name)}${query(key)} must be a text, a number, a boolean or a list of these`);
}

/**
 * The query as it goes out, with its `?`, or nothing: what is undefined is left out, a list is repeated.
 * @throws UsageError for a value that has no text form
 */
export function queryString(
  name: string,
  query: Readonly<Record<string, unknown>>,
  names = commandNames,
): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const item of Array.isArray(value) ? value : [value])
      search.append(key, queryText(name, key, item, names));
  }
  return search.size === 0 ? '' : `?${search}`;
}
