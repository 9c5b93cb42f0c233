import { setMaxListeners } from 'node:events';
import { isPromise, systemClock, within } from '../clock.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { type NameOf, RungateError, redactError, UsageError } from '../errors.ts';
import { renameKey } from '../json/rewrite.ts';
import { headerSecrets, type Redact, redactor } from '../redact.ts';
import { isLocal, parseApiUrl, receiver } from '../transport/address.ts';
import { proxyFor, proxySecrets } from '../transport/proxy.ts';
import { httpTransport } from '../transport/send.ts';
import { eitherSignal } from '../transport/stop.ts';
import type { PreparedRequest, Transport } from '../transport/transport.ts';
import { bodySecrets } from './body-secrets.ts';
import { call } from './call.ts';
import { checkExtraHeaders } from './headers.ts';
import type { Caller, CallerInput, CallerOptions, CallOptions, ClientOptions } from './options.ts';
import { counted, Pace } from './rate-limit.ts';
import { prepareRequest } from './request.ts';
import { encodeUpload } from './upload.ts';

export type {
  Caller,
  CallerInput,
  CallerOptions,
  CallOptions,
  ClientOptions,
  Exchange,
  ExchangeEvent,
} from './options.ts';

/** The neutral name of a field whose real name contains a vendor name. */
const neutral = 'providerModel';

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

function limitsOf(client: CallerOptions, options: CallOptions) {
  const timeoutMs = options.timeoutMs ?? client.callTimeoutMs ?? 120_000;
  return {
    timeoutMs,
    requestTimeoutMs: options.requestTimeoutMs ?? client.requestTimeoutMs ?? 30_000,
    maxRequests: options.maxRequests ?? 4,
    limitTimeoutMs: options.limitTimeoutMs ?? timeoutMs,
  };
}

async function withFile(name: string, input: CallerInput): Promise<CallerInput> {
  const encoded = await encodeUpload(name, input.body);
  if (encoded === null) return input;
  return { ...input, ...encoded };
}

/** Returns a redactor for the secrets in the options, and for others. */
export function ownRedactor(
  { apiKey, token, headers = {}, proxyEnv }: ClientOptions,
  others: readonly (string | undefined)[] = [],
): Redact {
  const sent = [apiKey, token, ...Object.values(headers).flatMap(headerSecrets)];
  const secrets = [...sent, ...others].filter((secret) => secret !== undefined);
  return redactor([...secrets, ...(proxyEnv === undefined ? [] : proxySecrets(proxyEnv))]);
}

/**
 * Returns a caller of the service. It opens no connection before the first call.
 * @param nameOf names the options in errors
 * @param redact redacts more secrets than the options have
 */
export function createCaller(
  options: CallerOptions,
  nameOf: NameOf,
  redact: Redact = ownRedactor(options),
): Caller {
  const { clock = systemClock, random = Math.random } = options;
  const ownsTransport = options.transport === undefined;
  const { providerModelField: vendorField, proxyEnv } = options;
  const proxy = proxyEnv === undefined ? undefined : (target: URL) => proxyFor(target, proxyEnv);
  const { caPem, certPem, keyPem } = options;
  const to = receiver('service', nameOf);
  const wire = options.transport ?? httpTransport({ caPem, certPem, keyPem, proxy, to });
  const sender = { ...options, nameOf, headers: checkExtraHeaders('headers', options.headers ?? {}) };
  const named = vendorField === undefined ? wire : withVendorField(wire, vendorField);
  // A service on this machine need not have the documented limits.
  const pace = options.pace === false || isLocal(options.apiUrl) ? null : new Pace();
  const transport = pace === null ? named : counted(named, pace, clock);
  let base: URL | undefined;
  const closing = new AbortController();
  // Each call in progress adds a listener; Node would warn at eleven.
  setMaxListeners(0, closing.signal);

  function prepare(name: string, endpoint: Endpoint, input: CallerInput, key?: string): PreparedRequest {
    const idempotencyKey = key ?? (endpoint.keyed ? crypto.randomUUID() : undefined);
    base ??= parseApiUrl(options.apiUrl, to, options.insecureHttp);
    return prepareRequest(name, endpoint, { ...input, idempotencyKey }, base, sender);
  }

  async function inPace(limits: Pace, name: string, method: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const now = clock.monotonic();
      const waitMs = limits.nextAt(method, now) - now;
      if (waitMs <= 0) return;
      const reason = 'the limit of requests per minute';
      const event = { type: 'wait', endpoint: name, request: 0, waitMs, reason } as const;
      const returned: unknown = options.onExchange?.(event);
      if (isPromise(returned)) await within(waitMs, returned, clock);
      await clock.sleep(waitMs, signal);
    }
  }

  /** The service may repeat a secret of the body. */
  function redactorOf(endpoint: Endpoint, input: CallerInput): Redact {
    let redactBody: Redact | undefined;
    return (text) => {
      redactBody ??= redactor(bodySecrets(endpoint, input));
      return redactBody(redact(text));
    };
  }

  return {
    async exchange(name, endpoint, givenInput, callOptions = {}) {
      const input = endpoint.multipart ? await withFile(name, givenInput) : givenInput;
      callOptions.signal?.throwIfAborted();
      const either = eitherSignal(callOptions.signal, closing.signal);
      const redactAll = redactorOf(endpoint, input);
      try {
        if (closing.signal.aborted) throw closing.signal.reason;
        const { check = true, idempotencyKey, onRetry } = callOptions;
        const request = prepare(name, endpoint, input, idempotencyKey);
        if (callOptions.pace === true && pace !== null)
          await inPace(pace, name, endpoint.method, either.signal);
        return await call(request, endpoint, {
          limits: limitsOf(options, callOptions),
          transport,
          clock,
          random,
          check,
          nameOf,
          redact: redactAll,
          signal: either.signal,
          onExchange: options.onExchange,
          onRetry: onRetry && ((error, waitMs) => onRetry(redactError(error, redactAll), waitMs)),
        });
      } catch (error) {
        if (!(error instanceof RungateError)) throw error;
        // Facts of a call that was never sent.
        if (error.facts.endpoint === undefined)
          error.facts = { endpoint: name, method: endpoint.method, requests: 0, elapsedMs: 0 };
        throw redactError(error, redactAll);
      } finally {
        either.release();
      }
    },
    async close() {
      closing.abort(new UsageError('the client is closed'));
      if (ownsTransport) await transport.close();
    },
  };
}
