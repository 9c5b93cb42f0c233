import { parseUrl } from '../parse-url.ts';

export interface Credentials {
  username?: string;
  password?: string;
}

export interface RedisServer {
  host: string;
  port: number;
}

/** Where Redis is, and how to log in. */
export interface RedisAddress {
  tls: boolean;
  database: number;
  credentials: Credentials;
  /** The one server, or the Sentinels that know the address of the master. */
  servers: [RedisServer, ...RedisServer[]];
  sentinel: { master: string; credentials: Credentials } | null;
}

const credentialsOf = (username: string, password: string): Credentials => ({
  ...(username && { username: decodeURIComponent(username) }),
  ...(password && { password: decodeURIComponent(password) }),
});

/** `URLSearchParams` would take the plus sign of a password for a space. */
const parametersOf = (search: string) =>
  new Map(
    search.split(/[?&]/).flatMap((pair): [string, string][] => {
      const [, name = '', value = ''] = /^([^=]*)=(.*)$/.exec(pair) ?? [];
      return pair === '' ? [] : [[name, value]];
    }),
  );

/** The parameters of Lettuce's URLs of Sentinel, and the credentials for the Sentinels themselves. */
const sentinelParameters = ['sentinelMasterId', 'sentinelUsername', 'sentinelPassword'];

/**
 * Reads `redis://host:6379/1` or `redis-sentinel://host:26379,host:26379/1#master`, with `rediss` for TLS. Returns null for
 * any other text.
 * @throws URIError for an invalid percent-encoding
 */
export function parseRedisUrl(text: string): RedisAddress | null {
  const [, start = '', hosts = '', rest = ''] =
    /^([a-z-]*:\/\/(?:[^@/?#]*@)?)([^@/?#]+)([\s\S]*)/i.exec(text.trim()) ?? [];
  const urls = hosts.split(',').map((host) => parseUrl(start + host + rest));
  const servers = urls.flatMap((url): RedisServer[] => {
    if (url === null || url.hostname === '') return [];
    // The client would look up the name [::1].
    const host = url.hostname.replace(/^\[|\]$/g, '');
    return [{ host, port: Number(url.port || (url.protocol.endsWith('-sentinel:') ? 26379 : 6379)) }];
  });
  const [server, ...others] = servers;
  const url = urls[0];
  if (!url || server === undefined || servers.length < urls.length) return null;
  const [, secure, isSentinel] = /^redis(s?)(-sentinel)?:$/.exec(url.protocol) ?? [];
  if (secure === undefined || !/^\/?\d{0,4}$/.test(url.pathname)) return null;
  const address = {
    tls: secure !== '',
    database: Number(url.pathname.slice(1)),
    credentials: credentialsOf(url.username, url.password),
    servers: [server, ...others] satisfies RedisAddress['servers'],
  };
  if (isSentinel === undefined) {
    return others.length > 0 || url.search !== '' || url.hash !== '' ? null : { ...address, sentinel: null };
  }
  const parameters = parametersOf(url.search);
  const value = (name: string) => parameters.get(name) ?? '';
  const master = decodeURIComponent(url.hash.slice(1) || value('sentinelMasterId'));
  if (master === '' || [...parameters.keys()].some((name) => !sentinelParameters.includes(name))) return null;
  const credentials = credentialsOf(value('sentinelUsername'), value('sentinelPassword'));
  return { ...address, sentinel: { master, credentials } };
}

/** Returns the passwords in a URL that `parseRedisUrl` can read. */
export function passwordsOf(url: string): string[] {
  const { credentials, sentinel } = parseRedisUrl(url) as RedisAddress;
  return [credentials, sentinel?.credentials ?? {}].flatMap(({ password }) => password ?? []);
}
