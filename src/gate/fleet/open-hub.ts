import { unsendable } from '../../client/credential-problems.ts';
import type { Clock } from '../../clock.ts';
import { ConfigError, CredentialError, type NameOf, RungateError } from '../../errors.ts';
import { parseApiUrl, type Receiver, receiver } from '../../transport/address.ts';
import { httpTransport } from '../../transport/send.ts';
import { createHubClient, giveToken, type HubStatus } from './hub-client.ts';
import { type HubLink, HubLinks, type HubUser } from './hub-link.ts';

/** How to reach the hub: with the same certificates and proxies as the service. */
export interface HubOptions {
  url: string;
  token: string | undefined;
  insecureHttp?: boolean | undefined;
  caPem?: string | undefined;
  proxyEnv?: Readonly<Record<string, string | undefined>> | undefined;
  clock: Clock;
  nameOf: NameOf;
  /** Throws the error for a token that must not be sent to this URL. */
  guard?(): void;
}

/** Returns why the token cannot be sent to the hub, or null. */
export function tokenProblem({ token, nameOf, guard }: HubOptions, to: Receiver): RungateError | null {
  try {
    guard?.();
  } catch (error) {
    if (error instanceof RungateError) return error;
    throw error;
  }
  if (token === undefined || token === '')
    return new CredentialError('the hub token is not set', { hint: giveToken(to) });
  const mistake = unsendable('bearer token', token, nameOf);
  if (mistake === null) return null;
  const { problem, hint } = mistake;
  return new ConfigError(`${to.credential} has ${problem}, which cannot be sent in a header`, {
    hint,
  });
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
  const { caPem, proxyEnv, clock, nameOf } = options;
  const to = receiver('hub', nameOf);
  const url = parseApiUrl(options.url, to, options.insecureHttp);
  const problem = tokenProblem(options, to);
  if (problem !== null) {
    return {
      link: ({ onChange }) => void onChange(problem),
      status: async () => 'ok',
      async close() {},
    };
  }
  const transport = httpTransport({ caPem, proxyEnv, to });
  const client = createHubClient({ url, token: String(options.token), transport, clock, to });
  const links = new HubLinks(client, { clock });
  return {
    link: ({ name, onChange }) =>
      links.open({
        name,
        onChange(error) {
          if (error !== null) error.hint ??= `check ${to.address}, and that the hub is running`;
          onChange(error);
        },
      }),
    status: client.status,
    async close() {
      links.close();
      await transport.close();
    },
  };
}
