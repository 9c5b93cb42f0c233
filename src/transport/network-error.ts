import { isIP, isIPv6 } from 'node:net';
import { HttpError, NetworkError, type Wording } from '../errors.ts';
import { isLoopback, type Receiver, toService } from './address.ts';

const dns: readonly string[] = ['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME'];

/** The error codes of OpenSSL and Node for an untrusted certificate or a failed handshake. */
const tls =
  /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|ERROR_IN_)/;

/** The codes of a handshake that failed before the certificate was checked. */
const handshake = /^(ERR_SSL_|EPROTO$)/;

/** The codes for a response that undici's HTTP parser rejects; the parser's own error has a name but no code. */
const notHttp = /^(HPE_|HTTPParserError$|UND_ERR_HEADERS_OVERFLOW$|UND_ERR_RES_CONTENT_LENGTH_MISMATCH$)/;

/** The parser's message for a connection that closed after a part of the last response that it was for. */
const cutOff = /\(Invalid EOF state\)$/;

/** undici's messages for these repeat the address and the milliseconds, so rungate writes its own. */
const undiciTimeout = /^UND_ERR_(CONNECT|HEADERS)_TIMEOUT$/;

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  // The host has several addresses, and none of them could be connected.
  return error instanceof AggregateError ? codeOf(error.errors[0]) : '';
}

/** Removes the thread, code, source file and line from a message of OpenSSL. */
function plainly(text: string): string {
  const [, reason] = /^[0-9A-F]+:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+):/.exec(text) ?? [];
  return reason ?? text.trim();
}

/** Returns the problem with a certificate, as the end of a sentence, and a hint. */
function certificateProblem(code: string, cause: unknown, host: string, to: Receiver): [string, Wording] {
  const text = cause instanceof Error ? cause.message : code;
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return [
        'has expired',
        `renew the certificate on the ${to.server}; if it is still valid, check this machine's clock`,
      ];
    case 'CERT_NOT_YET_VALID':
      return [
        'is not valid yet',
        `check this machine's clock; if it is right, contact the operator of the ${to.server}`,
      ];
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return otherHost(cause, host, to);
    default:
      return [
        `is not trusted: ${plainly(text)}`,
        (say) => `if a private CA signed it, add the certificate of that CA with ${say('trust')}`,
      ];
  }
}

function otherHost(cause: unknown, host: string, { server, address }: Receiver): [string, Wording] {
  const { cert } = cause as { cert?: { subjectaltname?: string; subject?: { CN?: unknown } } };
  if (cert?.subjectaltname !== undefined) {
    const hosts = cert.subjectaltname.replaceAll(/DNS:|IP Address:/g, '').slice(0, 200);
    return [
      `is for another host: ${hosts}`,
      (say) => `use a host name from the certificate in ${address(say)}`,
    ];
  }
  const name = host.replace(/^\[|\]$/g, '');
  const reissue = `reissue it with subjectAltName=${isIP(name) === 0 ? 'DNS' : 'IP'}:${name}`;
  const commonName = cert?.subject?.CN;
  // Without a subjectAltName, Node compares the common name with a host name, but never with an IP address.
  if (typeof commonName !== 'string' || !/^[\w.-]{1,200}$/.test(commonName) || isIP(commonName) !== 0) {
    return ['has no subjectAltName for the host', reissue];
  }
  return [
    `has no subjectAltName for the host, only the common name ${commonName}`,
    (say) => `${reissue}; or use ${commonName} in ${address(say)} if it leads to the ${server}`,
  ];
}

/** Whether the peer closed the connection without sending a byte, as a TLS port does when it receives plain HTTP. */
function sentNothing(cause: unknown): boolean {
  const { socket } = cause as { socket?: { bytesRead?: number } };
  return socket?.bytesRead === 0;
}

/** Formats milliseconds: `30000` as `30 s`, `250` as `250 ms`. */
export function span(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}

/** Returns whether undici closed the connection because of a 100 Continue, as it does to every server that sends one. */
export const isContinue = (cause: unknown): boolean =>
  codeOf(cause) === 'UND_ERR_SOCKET' && (cause as Error).message === 'bad response';

/** @param started whether the first byte of the request was written: the service may have processed it */
export function networkError(cause: unknown, url: URL, started: boolean, to = toService): NetworkError {
  const { server, address } = to;
  const code = codeOf(cause);
  const host = url.host;
  const message = cause instanceof Error ? cause.message : '';
  const isCutOff = cutOff.test(message);
  const text = undiciTimeout.test(code) ? 'timed out' : isCutOff ? 'other side closed' : message || code;
  if (handshake.test(code)) {
    const plain = isLoopback(url.hostname) ? ', or use http:// instead of https://' : '';
    const hint: Wording = (say) =>
      /wrong version number|packet length too long|unknown protocol/.test(text)
        ? `the server at that port does not speak TLS: check the port in ${address(say)}${plain}`
        : `check the host and port in ${address(say)}: the server there does not speak TLS as expected`;
    return new NetworkError('tls', `no TLS connection to ${host}: ${plainly(text)}`, { hint, cause });
  }
  if (tls.test(code)) {
    const [problem, hint] = certificateProblem(code, cause, url.hostname, to);
    return new NetworkError('tls', `the certificate of ${host} ${problem}`, { hint, cause });
  }
  if (started && isContinue(cause)) {
    const text = `${host} sent 100 Continue, which rungate did not request and cannot read`;
    const hint = `turn off 100 Continue in the ${server}, or in the proxy in front of it`;
    return new NetworkError('broken', text, { hint, cause });
  }
  if (started) {
    const isHttp = isCutOff || !notHttp.test(code || (cause instanceof Error ? cause.name : ''));
    const what = isHttp
      ? `the connection to ${host} broke before the response was complete`
      : `${host} sent a response that is not HTTP`;
    const tlsHint: Wording = (say) =>
      `if this port expects TLS, use https:// instead of http:// in ${address(say)}`;
    const hint = url.protocol === 'http:' && (!isHttp || sentNothing(cause)) ? tlsHint : undefined;
    return new NetworkError('broken', `${what}: ${text}`, { hint, cause });
  }
  if (dns.includes(code)) {
    const hint: Wording = (say) => `check the host in ${address(say)} and the network`;
    return new NetworkError('dns', `no address found for the host ${url.hostname} (${code})`, {
      hint,
      cause,
    });
  }
  if (code === 'ECONNREFUSED') {
    const start = {
      service: '; to start the mock: rungate mock serve',
      hub: '; to start a hub: rungate hub',
      page: '',
      deployment: '',
      proxy: '',
    };
    const local = isLoopback(url.hostname) ? start[server] : '';
    const hint: Wording = (say) =>
      `check the host and port in ${address(say)}, and that the ${server} is running${local}`;
    return new NetworkError('refused', `nothing is listening at ${host} (${code})`, { hint, cause });
  }
  return new NetworkError('connect', `no connection to ${host}: ${text}`, { hint: unreachable(to), cause });
}

const unreachable =
  ({ address }: Receiver): Wording =>
  (say) =>
    `check ${address(say)} and the network, and whether you need a proxy`;

export function timeoutError(url: URL, started: boolean, timeoutMs: number, to: Receiver): NetworkError {
  if (started) {
    const hint: Wording = (say) => `${say('requestTimeout')} sets the timeout of one request`;
    return new NetworkError('broken', `no complete response from ${url.host} within ${span(timeoutMs)}`, {
      hint,
    });
  }
  return new NetworkError('connect', `no connection to ${url.host} within ${span(timeoutMs)}`, {
    hint: unreachable(to),
  });
}

/** Returns whether a connection failed because its name does not resolve, or because nothing listens on this machine. */
export function isWrongAddress(error: unknown): boolean {
  if (!(error instanceof NetworkError)) return false;
  const { fault, cause } = error;
  const causes: { address?: unknown }[] = cause instanceof AggregateError ? cause.errors : [cause ?? {}];
  const isHere = (address: string) => isLoopback(isIPv6(address) ? `[${address}]` : address);
  return fault === 'dns' || (fault === 'refused' && causes.every(({ address }) => isHere(String(address))));
}

/** The reason why the proxy opened no tunnel: its status code, or the error that prevented a response. */
export class ProxyFault extends Error {
  constructor(
    readonly status: number | null,
    cause?: unknown,
  ) {
    super('no tunnel', { cause });
  }
}

const toProxy: Receiver = { server: 'proxy', address: () => 'HTTPS_PROXY' };
const check = 'check HTTPS_PROXY (HTTP_PROXY for http://), or add the host to NO_PROXY if it needs no proxy';

/** Converts a ProxyFault into an error for the user. Nothing was sent to the service. */
export function proxyError(fault: ProxyFault, target: URL, proxy: URL): HttpError | NetworkError {
  const { status, cause } = fault;
  if (status === 407) {
    const text = `no connection to ${target.host}: the proxy ${proxy.host} rejected the credentials, or requires some (407)`;
    // Not retried, like a 4xx of the service: another request could lock the account.
    return new HttpError(text, {
      status,
      hint: 'set HTTPS_PROXY=http://user:password@host:port, with special characters percent-encoded',
    });
  }
  if (status !== null) {
    const why = status === 403 ? 'its rules forbid this host' : 'it could not reach the host';
    const text = `no connection to ${target.host} through the proxy ${proxy.host}: ${why} (${status})`;
    return new NetworkError('connect', text, { hint: check });
  }
  const error = networkError(cause, proxy, false, toProxy);
  error.message = `no connection to ${target.host} through the proxy: ${error.message}`;
  error.hint = error.fault === 'tls' ? `${error.hint}; ${check}` : check;
  return error;
}

export function proxyTimeout(target: URL, proxy: URL, timeoutMs: number): NetworkError {
  const text = `no connection to ${target.host} through the proxy ${proxy.host} within ${span(timeoutMs)}`;
  return new NetworkError('connect', text, { hint: check });
}
