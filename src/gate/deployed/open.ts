import type { ExchangeEvent } from '../../client/options.ts';
import { type NameOf, redactError } from '../../errors.ts';
import { headerSecrets, type Redact, redactor } from '../../redact.ts';
import { parseApiUrl, receiver, shownUrl } from '../../transport/address.ts';
import { httpTransport } from '../../transport/send.ts';
import { type ReadTrace, type VersionPage, versionReader } from './read-version.ts';
import type { PageReading } from './reads.ts';
import type { DeployedCheckOptions } from './watch-page.ts';

/** How to reach the version page: with the same certificates and proxies as the service. */
export interface PageOptions extends Omit<VersionPage, 'url'>, ReadTrace {
  url: string;
  insecureHttp?: boolean | undefined;
  caPem?: string | undefined;
  proxyEnv?: Readonly<Record<string, string | undefined>> | undefined;
  redact: Redact;
  nameOf: NameOf;
}

export interface OpenPage {
  /** The URL as it may be shown. */
  shown: string;
  read(options: { signal: AbortSignal; timeoutMs: number }): Promise<PageReading>;
  close(): Promise<void>;
}

/**
 * Opens no connection before the first read.
 * @throws ConfigError if the URL is invalid
 */
export function openPage(options: PageOptions): OpenPage {
  const { pointer, expected, headers, caPem, proxyEnv, nameOf } = options;
  const to = receiver('page', nameOf);
  const url = parseApiUrl(options.url, to, options.insecureHttp);
  // The page may repeat the headers of its request.
  const redactHeaders = redactor(Object.values(headers).flatMap(headerSecrets));
  const redact: Redact = (text) => options.redact(redactHeaders(text));
  const transport = httpTransport({ caPem, proxyEnv, to });
  const { onExchange } = options;
  const shown = redact(shownUrl(url));
  const trace = {
    ...options,
    onExchange:
      onExchange && ((event: ExchangeEvent) => onExchange({ ...event, path: shown } as ExchangeEvent)),
  };
  const read = versionReader({ url, pointer, expected, headers }, transport, trace);
  return {
    shown,
    async read(limits) {
      const reading = await read(limits);
      if (!('error' in reading)) return { ...reading, text: redact(reading.text) };
      redactError(reading.error, redact);
      return reading;
    },
    close: () => transport.close(),
  };
}

export interface OpenDeployed {
  page: DeployedCheckOptions;
  /** Closes every connection, so that nothing keeps the process alive. */
  close(): Promise<void>;
}

/** @throws ConfigError if the URL is invalid */
export function openDeployed(
  options: PageOptions &
    Pick<DeployedCheckOptions, 'seen' | 'timeoutMs' | 'requestTimeoutMs' | 'clock' | 'emit'>,
): OpenDeployed {
  const { shown, read, close } = openPage(options);
  const expected = { page: shown, versions: options.expected };
  const page = { ...options, expected, read };
  return { page, close };
}
