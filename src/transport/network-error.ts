import { isIP } from 'node:net';
import { HttpError, NetworkError } from '../errors.ts';
import { commandNames, type HintNames } from '../hint-names.ts';
import { isLoopback } from './address.ts';

const dns: readonly string[] = ['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME'];

/** What OpenSSL and Node call a certificate that is not trusted, or a handshake that did not work out. */
const tls =
  /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|ERROR_IN_)/;

/** What the handshake itself failed over, rather than the certificate. */
const handshake = /^(ERR_SSL_|EPROTO$)/;

/** What undici's HTTP parser refuses; an error of the parser itself has a name and no code. */
const notHttp = /^(HPE_|HTTPParserError$|UND_ERR_HEADERS_OVERFLOW$|UND_ERR_RES_CONTENT_LENGTH_MISMATCH$)/;

/** undici's own words for these name an address and a number of milliseconds. */
const undiciTimeout = /^UND_ERR_(CONNECT|HEADERS)_TIMEOUT$/;

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  // Several addresses were tried, and each of them failed in its own way.
  return error instanceof AggregateError ? codeOf(error.errors[0]) : '';
}

/** OpenSSL's own words without what only its authors read: thread, code, source file and line. */
function plainly(text: string): string {
  const [, reason] = /^[0-9A-F]+:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):/.exec(text) ?? [];
  return reason ?? text.trim();
}

/** What is wrong with a certificate, as the end of a sentence, and what to do about it. */
function certificateProblem(code: string, cause: unknown, host: string, names: HintNames): [string, string] {
  const text = cause instanceof Error ? cause.message : code;
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return [
        'has expired',
        "it must be renewed where the service runs; if it was, check this machine's clock",
      ];
    case 'CERT_NOT_YET_VALID':
      return ['is not valid yet', "check this machine's clock; if it is right, tell who runs the service"];
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return otherHost(cause, host, names);
    default:
      return [
        `is not trusted: ${plainly(text)}`,
        `if a company CA signs its certificate, give it with ${names.ca}`,
      ];
  }
}

/** The problem of a certificate that does not name the host, and the remedy. */
function otherHost(cause: unknown, host: string, names: HintNames): [string, string] {
  const { cert } = cause as { cert?: { subjectaltname?: string; subject?: { CN?: unknown } } };
  if (cert?.subjectaltname !== undefined) {
    const hosts = cert.subjectaltname.replaceAll(/DNS:|IP Address:/g, '').slice(0, 200);
    return [`is for another host: ${hosts}`, `write the host in ${names.apiUrl} as the certificate names it`];
  }
  const address = host.replace(/^\[|\]$/g, '');
  const again = `issue it again with subjectAltName=${isIP(address) === 0 ? 'DNS' : 'IP'}:${address}`;
  const name = cert?.subject?.CN;
  // Without a subjectAltName Node compares the common name with the host, but never with an IP address.
  if (typeof name !== 'string' || !/^[\w.-]{1,200}$/.test(name) || isIP(name) !== 0) {
    return ['has no subjectAltName that names the host', again];
  }
  return [
    `has no subjectAltName that names the host, only the common name ${name}`,
    `${again}; or write ${name} in ${names.apiUrl}, if that leads to the service`,
  ];
}

/** The peer closed the connection without a byte, as a TLS port does that gets plain HTTP. */
function saidNothing(cause: unknown): boolean {
  const { socket } = cause as { socket?: { bytesRead?: number } };
  return socket?.bytesRead === 0;
}

/** `30000` → `30 s`, `250` → `250 ms`. */
export function span(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}

/**
 * A failure of the network layer as one of ours.
 * @param started the request's first byte was handed to the connection: it may have been processed
 */
export function networkError(cause: unknown, url: URL, started: boolean, names = commandNames): NetworkError {
  const code = codeOf(cause);
  const host = url.host;
  const text = undiciTimeout.test(code)
    ? 'timed out'
    : cause instanceof Error && cause.message !== ''
      ? cause.message
      : code;
  if (handshake.test(code)) {
    const hint = /wrong version number|packet length too long|unknown protocol/.test(text)
      ? `what listens there does not speak TLS: check the port in ${names.apiUrl}${isLoopback(url.hostname) ? ', or write http:// in place of https://' : ''}`
      : `check the address and port in ${names.apiUrl}: something there does not speak TLS as expected`;
    return new NetworkError('tls', `no TLS connection to ${host}: ${plainly(text)}`, { hint, cause });
  }
  if (tls.test(code)) {
    const [problem, hint] = certificateProblem(code, cause, url.hostname, names);
    return new NetworkError('tls', `the certificate of ${host} ${problem}`, { hint, cause });
  }
  if (started) {
    const isHttp = !notHttp.test(code || (cause instanceof Error ? cause.name : ''));
    const what = isHttp ? 'broke the connection before its reply was complete' : 'did not answer in HTTP';
    const tlsHint = `if a TLS port is there, write https:// in place of http:// in ${names.apiUrl}`;
    const hint = url.protocol === 'http:' && (!isHttp || saidNothing(cause)) ? tlsHint : undefined;
    return new NetworkError('broken', `${host} ${what}: ${text}`, { hint, cause });
  }
  if (dns.includes(code)) {
    const hint = `check the host in ${names.apiUrl}, and the network`;
    return new NetworkError('dns', `there is no address for the host ${url.hostname} (${code})`, {
      hint,
      cause,
    });
  }
  if (code === 'ECONNREFUSED') {
    const mock = isLoopback(url.hostname) ? '; the mock is started with rungate mock serve' : '';
    const hint = `check the host and port in ${names.apiUrl}, and that the service runs${mock}`;
    return new NetworkError('refused', `nobody listens at ${host} (${code})`, { hint, cause });
  }
  const hint = `check ${names.apiUrl}, the network, and whether a proxy is needed`;
  return new NetworkError('connect', `no connection to ${host}: ${text}`, { hint, cause });
}

/** One try took longer than it may: the peer could not be connected, or has gone quiet. */
export function timeoutError(
  url: URL,
  started: boolean,
  timeoutMs: number,
  names = commandNames,
): NetworkError {
  if (started) {
    const hint = `${names.requestTimeout} sets how long one try may take`;
    return new NetworkError('broken', `no reply within ${span(timeoutMs)} from ${url.host}`, { hint });
  }
  return new NetworkError('connect', `no connection to ${url.host} within ${span(timeoutMs)}`, {
    hint: `check ${names.apiUrl}, the network, and whether a proxy is needed`,
  });
}

/** Why no tunnel through the proxy came about: what it answered, or what kept it from answering. */
export class ProxyFault extends Error {
  constructor(
    readonly status: number | null,
    cause?: unknown,
  ) {
    super('no tunnel', { cause });
  }
}

const check = 'check HTTPS_PROXY (HTTP_PROXY for http), or name the host in NO_PROXY if it needs no proxy';

/** A tunnel that did not come about, as one of our errors. Nothing was sent to the service. */
export function proxyError(
  fault: ProxyFault,
  target: URL,
  proxy: URL,
  names = commandNames,
): HttpError | NetworkError {
  const { status, cause } = fault;
  if (status === 407) {
    const asked = `the proxy ${proxy.host} does not let us through to ${target.host}`;
    // A lasting refusal, as a 4xx of the service is: trying again could lock the account.
    return new HttpError(`${asked}: it wants a user name and a password, or others than it was given (407)`, {
      status,
      hint: 'give them in HTTPS_PROXY=http://user:password@host:port, with special characters percent-encoded',
    });
  }
  if (status !== null) {
    const why = status === 403 ? 'its rules forbid it' : 'it could not reach it';
    const text = `no connection to ${target.host} through the proxy ${proxy.host}: ${why} (${status})`;
    return new NetworkError('connect', text, { hint: check });
  }
  const {
    fault: kind,
    message,
    hint,
  } = networkError(cause, proxy, false, { ...names, apiUrl: 'HTTPS_PROXY' });
  return new NetworkError(kind, `no connection to ${target.host} through the proxy: ${message}`, {
    hint: kind === 'tls' ? `${hint}; ${check}` : check,
    cause,
  });
}

/** One try was over before the proxy had made a connection. */
export function proxyTimeout(target: URL, proxy: URL, timeoutMs: number): NetworkError {
  const text = `no connection to ${target.host} through the proxy ${proxy.host} within ${span(timeoutMs)}`;
  return new NetworkError('connect', text, { hint: check });
}
