import { setMaxListeners } from 'node:events';
import { systemClock } from '../clock.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { RungateError, redactError, UsageError } from '../errors.ts';
import { commandNames, type HintNames } from '../hint-names.ts';
import { ownCopy } from '../own-options.ts';
import { type Redact, redactor } from '../redact.ts';
import { isLocal, parseApiUrl } from '../transport/address.ts';
import { proxyFor, proxySecrets } from '../transport/proxy.ts';
import { httpTransport } from '../transport/send.ts';
import { eitherSignal } from '../transport/stop.ts';
import type { PreparedRequest, Transport } from '../transport/transport.ts';
import { call } from './call.ts';
import { isClosing, isOpening, stringEnd } from './json-text.ts';
import type { Caller, CallerInput, CallOptions, ClientOptions } from './options.ts';
import { paced } from './rate-limit.ts';
import { prepareRequest } from './request.ts';
import { encodeUpload } from './upload.ts';

export type { Caller, CallerInput, CallOptions, ClientOptions, Exchange, ExchangeEvent } from './options.ts';

/** The neutral name of a field whose real name contains a vendor name (interface, section 2.8). */
const neutral = 'providerModel';

/** Renames a key in JSON text, except in objects that already have the new name, so that no field is lost. */
export function renameKey(json: string, from: string, to: string): string {
  const [old, free] = [JSON.stringify(from), JSON.stringify(to)];
  const open: { keys: number[]; hasNewName: boolean }[] = [{ keys: [], hasNewName: false }];
  const keys: number[] = [];
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    const object = open.at(-1);
    if (code === 0x22) {
      const end = stringEnd(json, at);
      const text = json.slice(at, end);
      const isKey = (text === old || text === free) && /^\s*:/.test(json.slice(end, end + 300));
      if (isKey && text === old) object?.keys.push(at);
      else if (isKey && object !== undefined) object.hasNewName = true;
      at = end - 1;
    } else if (isOpening(code)) open.push({ keys: [], hasNewName: false });
    else if (isClosing(code) && open.length > 1) {
      open.pop();
      if (object?.hasNewName === false) keys.push(...object.keys);
    }
  }
  let [renamed, copied] = ['', 0];
  for (const at of keys.toSorted((a, b) => a - b)) {
    renamed += json.slice(copied, at) + free;
    copied = at + old.length;
  }
  return renamed + json.slice(copied);
}

/** Returns a transport that renames the model of an environment to `field` in requests, and back in responses. */
function withVendorField(transport: Transport, field: string): Transport {
  return {
    async send(request, options) {
      if (!request.endpoint.startsWith('env.')) return transport.send(request, options);
      const { body } = request;
      const renamed =
        typeof body === 'string' ? { ...request, body: renameKey(body, neutral, field) } : request;
      const response = await transport.send(renamed, options);
      return { ...response, text: renameKey(response.text, field, neutral) };
    },
    close: () => transport.close(),
  };
}

function checkDuration(name: string, ms: number): number {
  if (ms > 0) return ms;
  throw new UsageError(`${name} must be a number of milliseconds above 0`);
}

function limitsOf(client: ClientOptions, options: CallOptions) {
  const timeoutMs = checkDuration('timeoutMs', options.timeoutMs ?? client.callTimeoutMs ?? 120_000);
  const requestTimeoutMs = options.requestTimeoutMs ?? client.requestTimeoutMs ?? 30_000;
  const attempts = options.attempts ?? 4;
  if (!Number.isInteger(attempts) || attempts < 1)
    throw new UsageError('attempts must be a whole number, 1 or more');
  return {
    timeoutMs,
    requestTimeoutMs: checkDuration('requestTimeoutMs', requestTimeoutMs),
    attempts,
    limitTimeoutMs: options.limitTimeoutMs ?? timeoutMs,
  };
}

/** Encodes a file as the body of the request. */
async function encodeFile(
  name: string,
  input: { body?: unknown; headers?: CallerInput['headers'] },
): Promise<void> {
  const encoded = await encodeUpload(name, input.body);
  if (encoded === null) return;
  input.body = encoded.body;
  input.headers = { ...input.headers, 'content-type': encoded.contentType };
}

/** Returns a redactor for the secrets in the options, and for the token of a gate's hub. */
export function ownRedactor({ apiKey, token, proxyEnv }: ClientOptions, hubToken?: string): Redact {
  const own = [apiKey, token, hubToken].filter((secret) => secret !== undefined);
  return redactor([...own, ...(proxyEnv === undefined ? [] : proxySecrets(proxyEnv))]);
}

/**
 * Returns a caller of the service. It opens no connection before the first call.
 * @param redactMore redacts more secrets than the options have
 * @param names the names of the options in errors
 */
export function createCaller(
  given: ClientOptions,
  redactMore?: Redact,
  names: HintNames = commandNames,
): Caller {
  const options = ownCopy(given);
  const redact = redactMore ?? ownRedactor(options);
  const { clock = systemClock, random = Math.random } = options;
  const own = options.transport === undefined;
  const { providerModelField: vendorField, proxyEnv } = options;
  const proxy = proxyEnv === undefined ? undefined : (target: URL) => proxyFor(target, proxyEnv);
  const wire = options.transport ?? httpTransport({ caPem: options.caPem, proxy, names });
  const named = vendorField === undefined ? wire : withVendorField(wire, vendorField);
  // A service on this machine has only the limits that it states.
  const documented = !isLocal(options.apiUrl);
  const { transport, waitMs } = paced(named, clock, documented);
  let base: URL | undefined;
  const closing = new AbortController();
  // Each call in progress adds a listener; Node would warn at eleven.
  setMaxListeners(0, closing.signal);

  function prepare(name: string, endpoint: Endpoint, input: CallerInput, given?: string): PreparedRequest {
    const idempotencyKey = given ?? (endpoint.keyed ? crypto.randomUUID() : undefined);
    base ??= parseApiUrl(options.apiUrl, options.insecureHttp, names);
    const { apiKey, token, auth, userAgent } = options;
    const { params, query, body, json, headers } = input;
    // Copying all options would cost more than the request.
    const target = { base, apiKey, token, auth, userAgent, redact, names };
    return prepareRequest(name, endpoint, { params, query, body, json, headers, idempotencyKey }, target);
  }

  async function inPace(name: string, { method }: Endpoint, signal: AbortSignal): Promise<void> {
    for (let wait = waitMs(method); wait > 0; wait = waitMs(method)) {
      const reason = 'the limit of requests per minute';
      options.onExchange?.({ type: 'wait', endpoint: name, attempt: 0, waitMs: wait, reason });
      await clock.sleep(wait, signal);
      // Believe the service for one such wait only.
      if (wait >= 60_000) return;
    }
  }

  return {
    async exchange(name, endpoint, givenInput, givenOptions = {}) {
      const callOptions = ownCopy(givenOptions);
      const input: { -readonly [Part in keyof CallerInput]: CallerInput[Part] } = ownCopy(givenInput);
      callOptions.signal?.throwIfAborted();
      const either = eitherSignal(callOptions.signal, closing.signal);
      try {
        if (closing.signal.aborted) throw closing.signal.reason;
        const { check = true, idempotencyKey, onRetry } = callOptions;
        // Not spread below: the new hidden class in V8 would cost a sixth of each call.
        const limits = limitsOf(options, callOptions);
        if (endpoint.multipart) await encodeFile(name, input);
        const request = prepare(name, endpoint, input, idempotencyKey);
        if (callOptions.pace === true && options.pace !== false) await inPace(name, endpoint, either.signal);
        return await call(request, endpoint, {
          limits,
          transport,
          clock,
          random,
          check,
          names,
          signal: either.signal,
          onExchange: options.onExchange,
          onRetry,
        });
      } catch (error) {
        if (error instanceof RungateError) redactError(error, redact);
        // Facts of a call that was never sent.
        if (error instanceof RungateError && error.facts.endpoint === undefined) {
          error.facts = { endpoint: name, method: endpoint.method, attempts: 0, elapsedMs: 0 };
        }
        throw error;
      } finally {
        either.release();
      }
    },
    async close() {
      closing.abort(new UsageError('the client is closed'));
      if (own) await transport.close();
    },
  };
}
