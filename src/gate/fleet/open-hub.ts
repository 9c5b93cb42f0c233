import { unsendable } from '../../client/credential-problems.ts';
import type { Clock } from '../../clock.ts';
import { ConfigError, CredentialError, RungateError, type Say } from '../../errors.ts';
import { parseApiUrl, toHub } from '../../transport/address.ts';
import { proxyFor } from '../../transport/proxy.ts';
import { httpTransport } from '../../transport/send.ts';
import { createHubClient, giveToken, type HubHealth, type HubStatus } from './hub-client.ts';
import { createHubLinks, type HubLink, type HubUser } from './hub-link.ts';
import type { HubClient } from './protocol.ts';

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

/** The links of the gates of one process with the hub. */
export interface OpenHub {
  /** Returns undefined if the token cannot be sent there: the gate polls by itself, and `onChange` is called at once. */
  link(user: HubUser): HubLink | undefined;
  status(): Promise<HubStatus>;
  /** Closes every connection, so that nothing keeps the process alive. */
  close(): Promise<void>;
}

/**
 * Opens no connection before the first gate uses it.
 * @throws ConfigError if the URL is invalid
 */
export function openHub(options: HubOptions): OpenHub {
  const { clock, say } = options;
  parseApiUrl(options.url, options.insecureHttp, toHub);
  let opened: OpenClient;
  try {
    opened = openHubClient(options);
  } catch (error) {
    if (!(error instanceof RungateError)) throw error;
    return {
      link({ onChange }) {
        onChange(error.word(say));
        return undefined;
      },
      status: async () => 'ok',
      async close() {},
    };
  }
  const links = createHubLinks(opened.client, { clock });
  return {
    link: ({ name, onChange }) =>
      links.open({
        name,
        onChange(error) {
          if (error !== null) error.word(say).hint ??= `check ${say('hub.url')}, and that the hub is running`;
          onChange(error);
        },
      }),
    status: () => opened.client.status(),
    async close() {
      links.close();
      await opened.close();
    },
  };
}
