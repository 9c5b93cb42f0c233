import { isIP, isIPv6 } from 'node:net';
import { HttpError, NetworkError, type NetworkFault } from '../errors.ts';
import { isLoopback, type Receiver } from './address.ts';

const dns: readonly string[] = ['ENOTFOUND', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME'];

/** The error codes of OpenSSL and Node for an untrusted certificate or a failed handshake. */
const tls =
  /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|ERROR_IN_)/;

/** The codes of a handshake that failed before the certificate was checked. */
const handshake = /^(ERR_SSL_|EPROTO$)/;

/** The codes for a response that undici's HTTP parser rejects; the parser's own error has a name but no code. */
const notHttp = /^(HPE_|HTTPParserError$|UND_ERR_RES_CONTENT_LENGTH_MISMATCH$)/;

/** The parser's message for a connection that closed after a part of the last response that it was for. */
const cutOff = /\(Invalid EOF state\)$/;
const closed = 'other side closed';

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

type Remedy = (to: Receiver) => string;

/** The problem with a certificate, as the end of a sentence, and the remedy, by the code of the error. */
const certificates: Readonly<Record<string, readonly [problem: string, remedy: Remedy]>> = {
  CERT_HAS_EXPIRED: [
    'has expired',
    ({ server }) =>
      `renew the certificate on the ${server}; if it is still valid, check this machine's clock`,
  ],
  // The server has sent only its own certificate.
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [
    'is not trusted: its issuer is unknown, and the server did not send the certificate of the issuer',
    ({ server, trust }) =>
      `if a private CA signed it, add the certificate of that CA with ${trust}; if an intermediate CA did, the ${server} must also send the intermediate certificate, or add that one to the same file`,
  ],
  CERT_NOT_YET_VALID: [
    'is not valid yet',
    ({ server }) => `check this machine's clock; if it is right, contact the operator of the ${server}`,
  ],
};

function otherHost(cause: unknown, host: string, { address }: Receiver): [string, string] {
  const { subjectaltname } = Object((cause as { cert?: unknown }).cert) as { subjectaltname?: string };
  if (subjectaltname === undefined) {
    const name = host.replace(/^\[|\]$/g, '');
    const kind = isIP(name) === 0 ? 'DNS' : 'IP';
    return ['has no subjectAltName for the host', `reissue it with subjectAltName=${kind}:${name}`];
  }
  const hosts = subjectaltname.replaceAll(/DNS:|IP Address:/g, '').slice(0, 200);
  return [`is for another host: ${hosts}`, `use a host name from the certificate in ${address}`];
}

/** Whether the peer closed the connection without sending a byte, as a TLS port does when it receives plain HTTP, or no certificate. */
function sentNothing(cause: unknown): boolean {
  const { socket } = cause as { socket?: { bytesRead?: number } };
  return socket?.bytesRead === 0;
}

/** Formats milliseconds: `30000` as `30 s`, `250` as `250 ms`. */
export function span(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 100) / 10} s`;
}

type Fault = readonly [fault: NetworkFault, message: string, hint: string | undefined];

/** The alerts of a server that requires a client certificate, or that refused it. */
const certificateAlert = /HANDSHAKE_FAILURE|UNKNOWN_CA|ACCESS_DENIED|CERTIFICATE/;

/** Only the service gets a client certificate. */
const clientCertificate = ({ server, certFile }: Receiver) =>
  server === 'service' ? `the service may require a client certificate: check ${certFile}` : undefined;

function tlsFault(code: string, text: string, cause: unknown, url: URL, to: Receiver): Fault {
  const { host, hostname } = url;
  if (handshake.test(code)) {
    const plain = isLoopback(hostname) ? ', or use http:// instead of https://' : '';
    const isPlain = /wrong version number|packet length too long|unknown protocol/.test(text);
    const byAlert =
      code.includes('_ALERT_') && certificateAlert.test(code) ? clientCertificate(to) : undefined;
    const hint = isPlain
      ? `the server at that port does not speak TLS: check the port in ${to.address}${plain}`
      : `check the host and port in ${to.address}: the server there does not speak TLS as expected`;
    return ['tls', `no TLS connection to ${host}: ${plainly(text)}`, byAlert ?? hint];
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const [problem, hint] = otherHost(cause, hostname, to);
    return ['tls', `the certificate of ${host} ${problem}`, hint];
  }
  const [problem, remedy] = certificates[code] ?? [
    `is not trusted: ${plainly(cause instanceof Error ? cause.message : code)}`,
    ({ trust }: Receiver) => `if a private CA signed it, add the certificate of that CA with ${trust}`,
  ];
  return ['tls', `the certificate of ${host} ${problem}`, remedy(to)];
}

/** Returns the fault of a request of which the first byte was written: the service may have processed it. */
function brokenFault(name: string, text: string, cause: unknown, url: URL, to: Receiver): Fault {
  const { host } = url;
  const isHttp = text === closed || !notHttp.test(name);
  const what = isHttp
    ? `the connection to ${host} broke before the response was complete`
    : `${host} sent a response that is not HTTP`;
  const hint = `if this port expects TLS, use https:// instead of http:// in ${to.address}`;
  const mayBeTls = url.protocol === 'http:' && (!isHttp || sentNothing(cause));
  const isRefused = url.protocol === 'https:' && text === closed && sentNothing(cause);
  return ['broken', `${what}: ${text}`, mayBeTls ? hint : isRefused ? clientCertificate(to) : undefined];
}

/** The local remedy if nothing listens, by the server. */
const starts: Readonly<Partial<Record<Receiver['server'], string>>> = {
  service: '; to start the mock: rungate mock serve',
  hub: '; to start a hub: rungate hub',
};

function unsentFault(code: string, text: string, { host, hostname }: URL, to: Receiver): Fault {
  const { server, address } = to;
  if (dns.includes(code))
    return [
      'dns',
      `no address found for the host ${hostname} (${code})`,
      `check the host in ${address} and the network`,
    ];
  // The name server did not respond, so the name may exist.
  if (code === 'EAI_AGAIN')
    return ['connect', `the host ${hostname} could not be resolved (${code})`, unreachable(to)];
  if (code !== 'ECONNREFUSED') return ['connect', `no connection to ${host}: ${text}`, unreachable(to)];
  const local = isLoopback(hostname) ? (starts[server] ?? '') : '';
  return [
    'refused',
    `nothing is listening at ${host} (${code})`,
    `check the host and port in ${address}, and that the ${server} is running${local}`,
  ];
}

/** @param started whether the first byte of the request was written */
export function networkError(cause: unknown, url: URL, started: boolean, to: Receiver): NetworkError {
  const code = codeOf(cause);
  const { message, name } = cause instanceof Error ? cause : { message: '', name: '' };
  const text = undiciTimeout.test(code) ? 'timed out' : cutOff.test(message) ? closed : message || code;
  const [fault, problem, hint] = tls.test(code)
    ? tlsFault(code, text, cause, url, to)
    : started
      ? brokenFault(code || name, text, cause, url, to)
      : unsentFault(code, text, url, to);
  return new NetworkError(fault, problem, { hint, cause });
}

const unreachable = ({ address }: Receiver) =>
  `check ${address} and the network, and whether you need a proxy`;

/** @param hint the remedy for a slow response */
export function timeoutError(
  url: URL,
  started: boolean,
  timeoutMs: number,
  to: Receiver,
  hint?: string,
): NetworkError {
  if (started)
    return new NetworkError('broken', `no complete response from ${url.host} within ${span(timeoutMs)}`, {
      hint,
    });
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

const check = 'check HTTPS_PROXY (HTTP_PROXY for http://), or add the host to NO_PROXY if it needs no proxy';

/** Converts a ProxyFault into an error for the user. Nothing was sent to the receiver. */
export function proxyError(
  fault: ProxyFault,
  target: URL,
  proxy: URL,
  to: Receiver,
): HttpError | NetworkError {
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
  const error = networkError(cause, proxy, false, { ...to, server: 'proxy', address: 'HTTPS_PROXY' });
  error.message = `no connection to ${target.host} through the proxy: ${error.message}`;
  error.hint = error.fault === 'tls' ? `${error.hint}; ${check}` : check;
  return error;
}

export function proxyTimeout(target: URL, proxy: URL, timeoutMs: number): NetworkError {
  const text = `no connection to ${target.host} through the proxy ${proxy.host} within ${span(timeoutMs)}`;
  return new NetworkError('connect', text, { hint: check });
}
