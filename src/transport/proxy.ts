import { BlockList, isIP } from 'node:net';
import { ConfigError } from '../errors.ts';
import { parseUrl } from '../parse-url.ts';
import { isLoopback } from './address.ts';

export type ProxyEnv = Readonly<Record<string, string | undefined>>;

/** Whether the text is valid percent-encoding. */
export function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Quotes around a value, as from an .env file that no shell reads. */
const quotes = /^["'`“”‘’]|["'`“”‘’]$/g;

interface Variable {
  name: string;
  value: string;
}

const envValue = (env: ProxyEnv, name: string) => (env[name] ?? '').trim();

/** Returns the variable in lower case, as curl does, else in upper case; an empty one counts as not set. @throws ConfigError for quotes */
function variable(env: ProxyEnv, lower: string): Variable | null {
  const all = [lower, lower.toUpperCase()].map((name) => ({ name, value: envValue(env, name) }));
  const found = all.find(({ value }) => value !== '') ?? null;
  if (found === null || found.value.replace(quotes, '') === found.value) return found;
  throw new ConfigError(`the value of ${found.name} is in quotes`, {
    hint: 'remove the quotes: containers and CI systems take them as a part of the value',
  });
}

/** Parses the address of a proxy. Errors name the variable but never its value, which may contain a password. */
function parseProxy({ name, value }: Variable): URL {
  const example = `write it as ${name}=http://proxy.example.com:3128`;
  const problem = (what: string, hint = example) => new ConfigError(`${name} ${what}`, { hint });
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const credentials = text.slice(text.indexOf('://') + 3, Math.max(0, text.lastIndexOf('@')));
  const notEncoded = () =>
    problem(
      'contains a user name or password that is not percent-encoded',
      `${example}, with % in the user name or password as %25, # as %23, / as %2F, ? as %3F, \\ as %5C and @ as %40`,
    );
  // A URL parser would take a part of the password for the host.
  if (/[/\\?#]/.test(credentials)) throw notEncoded();
  const url = parseUrl(text);
  if (url === null) throw problem('is not a valid proxy URL');
  if (!/^https?:$/.test(url.protocol)) {
    throw problem('must begin with http:// or https://: rungate supports no other kind of proxy');
  }
  if (!decodes(url.username) || !decodes(url.password)) throw notEncoded();
  return url;
}

const bare = (hostname: string) => hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase();

/** Returns a test for the addresses of a network such as `10.0.0.0/8` or `fd00::/8`, or null if it is not a network. */
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

/** Splits `host`, `host:443`, `[::1]`, `[::1]:443` or `::1`. */
function splitPort(entry: string): { host: string; port: string } {
  const [, host = entry, port = ''] =
    /^(\[[^\]]*\])(?::(\d+))?$/.exec(entry) ?? /^([^:]*):(\d+)$/.exec(entry) ?? [];
  return { host: bare(host), port };
}

function covers(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const inSubnet = subnet(entry.replace(/^\[([^\]]*)\]/, '$1'));
  if (inSubnet !== null) return inSubnet(host);
  const { host: excepted, port: onlyPort } = splitPort(entry);
  if (onlyPort !== '' && Number(onlyPort) !== Number(port)) return false;
  if (excepted === '*') return true;
  const version = isIP(excepted);
  // An IPv6 address can be written in several ways.
  if (version !== 0) return subnet(`${excepted}/${version === 4 ? 32 : 128}`)?.(host) === true;
  const suffix = excepted.replace(/^\*?\./, '');
  // Suffixes apply to names only: `3.4` does not cover `1.2.3.4`.
  return suffix !== '' && (host === suffix || (isIP(host) === 0 && host.endsWith(`.${suffix}`)));
}

const defaultPort = (url: URL) => (url.port !== '' ? url.port : url.protocol === 'https:' ? '443' : '80');

/**
 * Returns the proxy for a URL, or null for a direct connection. Reads `https_proxy` or `http_proxy`, by the scheme of the
 * target, else their upper-case forms. `no_proxy` (or `NO_PROXY`) lists the exceptions: hosts with their subdomains (a
 * leading dot or `*.` makes no difference), optionally with a port, addresses, networks, and `*`. Requests to this
 * machine (`localhost`, `127.0.0.0/8`, `::1`) never use a proxy, for which these names mean another machine.
 * @throws ConfigError if the variable that applies is not a usable address; the error does not show its value
 */
export function proxyFor(target: URL, env: ProxyEnv): URL | null {
  if (isLoopback(target.hostname)) return null;
  const proxy = variable(env, target.protocol === 'https:' ? 'https_proxy' : 'http_proxy');
  if (proxy === null) return null;
  const host = bare(target.hostname);
  const entries = (variable(env, 'no_proxy')?.value ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  if (entries.some((entry) => covers(entry.toLowerCase(), host, defaultPort(target)))) return null;
  return parseProxy(proxy);
}

/** Returns the `Proxy-Authorization` header for the credentials in the proxy's address, or null without any. */
export function proxyAuthorization(proxy: URL): string | null {
  if (proxy.username === '' && proxy.password === '') return null;
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

const proxyNames = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'] as const;

/** Returns the proxy credentials in the environment, in each form in which they could appear in a text. */
export function proxySecrets(env: ProxyEnv): string[] {
  const secrets = new Set<string>();
  for (const name of proxyNames) {
    const text = envValue(env, name)
      .replace(quotes, '')
      .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '');
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

/** Returns the address of a proxy with its user name and password replaced, for display. */
export function showProxy(text: string): string {
  const trimmed = text.trim();
  const at = trimmed.lastIndexOf('@');
  if (at < 0) return trimmed;
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(trimmed)?.[0] ?? '';
  return `${scheme}***@${trimmed.slice(at + 1)}`;
}
