import { unsendable } from '../../client/credential-problems.ts';
import type { Clock } from '../../clock.ts';
import { ConfigError, CredentialError, RungateError, type Say } from '../../errors.ts';
import { parseApiUrl, toHub } from '../../transport/address.ts';
import { proxyFor } from '../../transport/proxy.ts';
import { httpTransport } from '../../transport/send.ts';
import { createHubClient, giveToken, type HubHealth, type HubStatus } from './hub-client.ts';
import { createHubLink, type HubClient, type HubLink, type HubLinkTools } from './hub-link.ts';

/** How to reach the hub: with the same certificates and proxies as the service. */
export interface HubOptions {
  url: string;
  token: string | undefined;
  insecureHttp?: boolean | undefined;
  caPem?: string | undefined;
  proxyEnv?: Readonly<Record<string, string | undefined>> | undefined;
  clock: Clock;
  say: Say;
  /** Throws the error for a token that must not be sent to this URL. */
  guard?(): void;
}

export interface OpenClient {
  client: HubClient & HubHealth;
  close(): Promise<void>;
}

function tokenProblem(token: string | undefined): RungateError | null {
  if (token === undefined || token === '') {
    return new CredentialError('the token of the hub is not set', { hint: giveToken });
  }
  const mistake = unsendable('bearer token', token);
  if (mistake === null) return null;
  const { problem, hint } = mistake;
  return new ConfigError((say) => `${say('hubTokens')} has ${problem}, which cannot be sent in a header`, {
    hint,
  });
}

/**
 * Returns a client of the hub. It opens no connection before the first request.
 * @throws ConfigError if the URL is invalid, ConfigError or CredentialError if the token cannot be sent there
 */
function openHubClient(options: HubOptions): OpenClient {
  const { token, caPem, proxyEnv, clock } = options;
  const url = parseApiUrl(options.url, options.insecureHttp, toHub);
  options.guard?.();
  const problem = tokenProblem(token);
  if (problem !== null) throw problem;
  const proxy = proxyEnv === undefined ? undefined : (target: URL) => proxyFor(target, proxyEnv);
  const transport = httpTransport({ caPem, proxy, to: toHub });
  const client = createHubClient({ url, token: String(token), transport, clock });
  return { client, close: () => transport.close() };
}

export interface OpenHub {
  link: HubLink;
  status(): Promise<HubStatus>;
  /** Closes every connection, so that nothing keeps the process alive. */
  close(): Promise<void>;
}

/**
 * Opens the link of a gate with its hub. Returns undefined if the token cannot be sent there: the gate polls by itself.
 * @param onChange as for the link; called at once if the token cannot be sent
 * @throws ConfigError if the URL is invalid
 */
export function openHub(options: HubOptions, onChange: HubLinkTools['onChange']): OpenHub | undefined {
  const { clock, say } = options;
  parseApiUrl(options.url, options.insecureHttp, toHub);
  let opened: OpenClient;
  try {
    opened = openHubClient(options);
  } catch (error) {
    if (!(error instanceof RungateError)) throw error;
    onChange(error.word(say));
    return undefined;
  }
  const link = createHubLink(opened.client, {
    clock,
    onChange(error) {
      if (error !== null) error.word(say).hint ??= `check ${say('hub.url')}, and that the hub is running`;
      onChange(error);
    },
  });
  return {
    link,
    status: () => opened.client.status(),
    async close() {
      link.close();
      await opened.close();
    },
  };
}
