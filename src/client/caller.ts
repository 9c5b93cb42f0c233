import { setMaxListeners } from 'node:events';
import { type Clock, isPromise, systemClock, within } from '../clock.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { type NameOf, RungateError, redactError, UsageError } from '../errors.ts';
import { renameKey } from '../json/rewrite.ts';
import { headerSecrets, type Redact, redactor } from '../redact.ts';
import { isLocal, parseApiUrl, type Receiver, receiver } from '../transport/address.ts';
import { proxySecrets } from '../transport/proxy.ts';
import { httpTransport } from '../transport/send.ts';
import { eitherSignal } from '../transport/stop.ts';
import type { PreparedRequest, Transport } from '../transport/transport.ts';
import { bodySecrets } from './body-secrets.ts';
import { call } from './call.ts';
import { checkExtraHeaders } from './headers.ts';
import type { Caller, CallerInput, CallerOptions, CallOptions, ClientOptions } from './options.ts';
import { counted, Pace } from './rate-limit.ts';
import { prepareRequest, type Sender } from './request.ts';
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

/** Returns what sends the requests of a client: within the documented limits, and with the real names of fields. */
function transportOf(options: CallerOptions, to: Receiver, pace: Pace | null, clock: Clock): Transport {
  const { transport, caPem, certPem, keyPem, proxyEnv, providerModelField } = options;
  const wire = transport ?? httpTransport({ caPem, certPem, keyPem, proxyEnv, to });
  const named = providerModelField === undefined ? wire : withVendorField(wire, providerModelField);
  return pace === null ? named : counted(named, pace, clock);
}

class ServiceCaller implements Caller {
  readonly #options: CallerOptions;
  readonly #redact: Redact;
  readonly #clock: Clock;
  readonly #to: Receiver;
  readonly #sender: Sender;
  readonly #pace: Pace | null;
  readonly #transport: Transport;
  readonly #closing = new AbortController();
  #base: URL | undefined;

  constructor(options: CallerOptions, nameOf: NameOf, redact: Redact) {
    this.#options = options;
    // Calls without their own signal listen to it directly, and Node warns at eleven listeners.
    setMaxListeners(0, this.#closing.signal);
    this.#redact = redact;
    this.#clock = options.clock ?? systemClock;
    this.#to = receiver('service', nameOf);
    // A service on this machine need not have the documented limits.
    this.#pace = options.pace === false || isLocal(options.apiUrl) ? null : new Pace();
    this.#transport = transportOf(options, this.#to, this.#pace, this.#clock);
    this.#sender = { ...options, nameOf, headers: checkExtraHeaders('headers', options.headers ?? {}) };
  }

  async exchange(name: string, endpoint: Endpoint, given: CallerInput, options: CallOptions = {}) {
    const input = endpoint.multipart ? await withFile(name, given) : given;
    options.signal?.throwIfAborted();
    const { signal, release } = eitherSignal(options.signal, this.#closing.signal);
    const redact = this.#redactorOf(endpoint, input);
    try {
      signal.throwIfAborted();
      const request = this.#prepare(name, endpoint, input, options.idempotencyKey);
      if (options.pace === true) await this.#inPace(name, endpoint.method, signal);
      return await call(request, endpoint, this.#contextOf(options, signal, redact));
    } catch (error) {
      if (!(error instanceof RungateError)) throw error;
      // Facts of a call that was never sent.
      if (error.facts.endpoint === undefined)
        error.facts = { endpoint: name, method: endpoint.method, requests: 0, elapsedMs: 0 };
      throw redactError(error, redact);
    } finally {
      release();
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new UsageError('the client is closed'));
    if (this.#options.transport === undefined) await this.#transport.close();
  }

  #prepare(name: string, endpoint: Endpoint, input: CallerInput, key?: string): PreparedRequest {
    const idempotencyKey = key ?? (endpoint.keyed ? crypto.randomUUID() : undefined);
    this.#base ??= parseApiUrl(this.#options.apiUrl, this.#to, this.#options.insecureHttp);
    return prepareRequest(name, endpoint, { ...input, idempotencyKey }, this.#base, this.#sender);
  }

  /** Waits until the limits allow the request. */
  async #inPace(name: string, method: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const now = this.#clock.monotonic();
      const waitMs = (this.#pace?.nextAt(method, now) ?? now) - now;
      if (waitMs <= 0) return;
      const reason = 'the limit of requests per minute';
      const returned: unknown = this.#options.onExchange?.({
        type: 'wait',
        endpoint: name,
        request: 0,
        waitMs,
        reason,
      });
      if (isPromise(returned)) await within(waitMs, returned, this.#clock);
      await this.#clock.sleep(waitMs, signal);
    }
  }

  /** The service may repeat a secret of the body. */
  #redactorOf(endpoint: Endpoint, input: CallerInput): Redact {
    let redactBody: Redact | undefined;
    return (text) => {
      redactBody ??= redactor(bodySecrets(endpoint, input));
      return redactBody(this.#redact(text));
    };
  }

  #contextOf({ check = true, onRetry, ...limits }: CallOptions, signal: AbortSignal, redact: Redact) {
    const { random = Math.random, onExchange } = this.#options;
    return {
      limits: limitsOf(this.#options, limits),
      transport: this.#transport,
      clock: this.#clock,
      random,
      check,
      nameOf: this.#sender.nameOf,
      redact,
      signal,
      onExchange,
      onRetry:
        onRetry && ((error: RungateError, waitMs: number) => onRetry(redactError(error, redact), waitMs)),
    };
  }
}

/**
 * Returns a caller of the service. It opens no connection before the first call.
 * @param nameOf names the options in errors
 * @param redact redacts more secrets than the options have
 */
export const createCaller = (
  options: CallerOptions,
  nameOf: NameOf,
  redact: Redact = ownRedactor(options),
): Caller => new ServiceCaller(options, nameOf, redact);
