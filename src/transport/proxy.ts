import { BlockList, isIP } from 'node:net';
import { ConfigError } from '../errors.ts';
import { parseUrl } from '../parse-url.ts';
import { isLoopback } from './address.ts';

/** Environment variables by name; what is not set is undefined. */
export type ProxyEnv = Readonly<Record<string, string | undefined>>;

/** Whether the text is sound percent-encoding. */
export function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

interface Named {
  name: string;
  value: string;
}

const envValue = (env: ProxyEnv, name: string) =>
  ((Object.hasOwn(env, name) ? env[name] : undefined) ?? '').trim();

/** The variable in lower case, as curl has it, else in upper case; one that is empty counts as not set. */
function variable(env: ProxyEnv, lower: string): Named | null {
  const all = [lower, lower.toUpperCase()].map((name) => ({ name, value: envValue(env, name) }));
  return all.find(({ value }) => value !== '') ?? null;
}

/** The address of a proxy. The messages name the variable and never its value, which may hold a password. */
function parseProxy({ name, value }: Named): URL {
  const example = `write it like ${name}=http://proxy.example.com:3128`;
  const problem = (what: string, hint = example) => new ConfigError(`${name} ${what}`, { hint });
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = parseUrl(text);
  if (url === null) throw problem('is not the address of a proxy');
  if (!/^https?:$/.test(url.protocol)) {
    throw problem('must begin with http:// or https://: other kinds of proxy are not spoken');
  }
  if (!decodes(url.username) || !decodes(url.password)) {
    const hint = `${example}, with a % in its user name or password as %25`;
    throw problem('holds a user name or password that is not percent-encoded', hint);
  }
  return url;
}

const bare = (hostname: string) => hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase();

/** `10.0.0.0/8` or `fd00::/8`, as the test for an address. */
function subnet(entry: string): ((address: string) => boolean) | null {
  const [, network = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(entry) ?? [];
  const version = isIP(network);
  if (version === 0 || Number(bits) > (version === 4 ? 32 : 128)) return null;
  const list = new BlockList();
  list.addSubnet(network, Number(bits), version === 4 ? 'ipv4' : 'ipv6');
  return (address) => {
    const other = isIP(address);
    return other !== 0 && list.check(address, other === 4 ? 'ipv4' : 'ipv6');
  };
}

/** `host`, `host:443`, `[::1]`, `[::1]:443`, `::1`. */
function splitPort(entry: string): { host: string; port: string } {
  const [, host = entry, port = ''] =
    /^(\[[^\]]*\])(?::(\d+))?$/.exec(entry) ?? /^([^:]*):(\d+)$/.exec(entry) ?? [];
  return { host: bare(host), port };
}

function covers(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const inSubnet = subnet(entry.replace(/^\[([^\]]*)\]/, '$1'));
  if (inSubnet !== null) return inSubnet(host);
  const { host: named, port: only } = splitPort(entry);
  if (only !== '' && Number(only) !== Number(port)) return false;
  if (named === '*') return true;
  const version = isIP(named);
  // One address has many spellings.
  if (version !== 0) return subnet(`${named}/${version === 4 ? 32 : 128}`)?.(host) === true;
  const suffix = named.replace(/^\*?\./, '');
  // An address has no parent: `3.4` is no suffix of `1.2.3.4`.
  return suffix !== '' && (host === suffix || (isIP(host) === 0 && host.endsWith(`.${suffix}`)));
}

const defaultPort = (url: URL) => (url.port !== '' ? url.port : url.protocol === 'https:' ? '443' : '80');

/**
 * The proxy that a request goes through, or null for none. `https_proxy` or `http_proxy`, by the scheme of the
 * target, else their upper-case forms; `no_proxy` (or `NO_PROXY`) has the exceptions: hosts with all that is below
 * them, with or without a port or a leading dot or `*.`, addresses and networks, and `*`. What is on this machine
 * (`localhost`, `127.0.0.0/8`, `::1`) is never asked through a proxy: there it would be another machine.
 * @throws ConfigError when the variable that applies holds no usable address; it is not shown
 */
export function proxyFor(target: URL, env: ProxyEnv): URL | null {
  const given = variable(env, target.protocol === 'https:' ? 'https_proxy' : 'http_proxy');
  if (given === null || isLoopback(target.hostname)) return null;
  const host = bare(target.hostname);
  const entries = (variable(env, 'no_proxy')?.value ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  if (entries.some((entry) => covers(entry.toLowerCase(), host, defaultPort(target)))) return null;
  return parseProxy(given);
}

/** What `Proxy-Authorization` says of the user and the password in the proxy's address. */
export function proxyAuthorization(proxy: URL): string | null {
  if (proxy.username === '' && proxy.password === '') return null;
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

const proxyNames = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'] as const;

/** What the environment tells of users and passwords of proxies, in each form in which it could turn up. */
export function proxySecrets(env: ProxyEnv): string[] {
  const secrets = new Set<string>();
  for (const name of proxyNames) {
    const text = envValue(env, name).replace(/^[a-z][a-z0-9+.-]*:\/\//i, '');
    const at = text.lastIndexOf('@');
    if (at < 0) continue;
    const user = text.slice(0, at);
    const colon = user.indexOf(':');
    const password = colon < 0 ? user : user.slice(colon + 1);
    for (const form of [user, password]) {
      secrets.add(form);
      if (!decodes(form)) continue;
      const plain = decodeURIComponent(form);
      secrets.add(plain);
      secrets.add(Buffer.from(plain).toString('base64'));
    }
  }
  secrets.delete('');
  return [...secrets];
}

/** The address of a proxy without its user and password, for people. */
export function showProxy(text: string): string {
  const trimmed = text.trim();
  const at = trimmed.lastIndexOf('@');
  if (at < 0) return trimmed;
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(trimmed)?.[0] ?? '';
  return `${scheme}***@${trimmed.slice(at + 1)}`;
}
