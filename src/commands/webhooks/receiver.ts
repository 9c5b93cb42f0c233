import { ConfigError, UsageError } from '../../errors.ts';
import type { Output } from '../../output/output.ts';
import type { Settings } from '../../settings/names.ts';
import { isLoopback } from '../../transport/address.ts';
import { WebhookVerificationError } from '../../webhook/error.ts';
import { defaultHeaderNames, type HeaderNames } from '../../webhook/headers.ts';
import { filled, numberUpTo } from '../options.ts';

export interface Secrets {
  kind: 'webhook' | 'tenant';
  /** The secrets that may have signed: only the tenant's if it is set, otherwise the webhook's. */
  keys: readonly string[];
  secrets: readonly string[];
  tenantSecret: string | undefined;
}

export function signingSecrets(settings: Settings): Secrets {
  const secrets = settings.webhookSecrets?.value ?? [];
  const tenantSecret = settings.tenantSecret?.value;
  return tenantSecret === undefined
    ? { kind: 'webhook', keys: secrets, secrets, tenantSecret }
    : { kind: 'tenant', keys: [tenantSecret], secrets, tenantSecret };
}

/** For the help of the commands that need one. */
export const secretsNote = `Secrets: set RUNGATE_WEBHOOK_SECRET or RUNGATE_WEBHOOK_SECRET_FILE (several
secrets: one per line). If the tenant secret signs deliveries, set
RUNGATE_TENANT_SECRET or RUNGATE_TENANT_SECRET_FILE instead. No option takes a
secret.`;

export function missingSecret(action: string): ConfigError {
  return new ConfigError(`${action}: no webhook secret is set`, {
    hint: 'set RUNGATE_WEBHOOK_SECRET or RUNGATE_WEBHOOK_SECRET_FILE (several secrets: one per line), or save the secret with rungate login --webhook-secret; if the tenant secret signs deliveries, set RUNGATE_TENANT_SECRET or RUNGATE_TENANT_SECRET_FILE',
  });
}

export function deliveryHeaders(settings: Settings): HeaderNames {
  return {
    timestamp: settings['webhook.timestampHeader']?.value ?? defaultHeaderNames.timestamp,
    signature: settings['webhook.signatureHeader']?.value ?? defaultHeaderNames.signature,
  };
}

/** @throws UsageError for an invalid option, and every other error unchanged */
export function refusalOf(error: unknown, command: string): WebhookVerificationError {
  if (!(error instanceof WebhookVerificationError)) throw error;
  if (error.code === 'bad_option') throw new UsageError(`${command}: ${error.message}`, { hint: error.hint });
  return error;
}

export const portAndHost = {
  '--port <port>': 'port to listen on (default 4020; 0 for any free port)',
  '--host <host>': 'address to listen on (default 127.0.0.1)',
};

/** The default is fixed, so that a webhook has to be registered only once. It is next to the mock's. */
export const listenPort = (text = '4020') => numberUpTo('--port', text, 65_535);

/** Reads `--host`: a name or an address, an IPv6 address also in the brackets of a URL. */
export function listenHost(text: string | undefined): string {
  return filled('--host', text)?.replace(/^\[(.*)\]$/, '$1') ?? '127.0.0.1';
}

/** Whether only this machine can reach a server. */
export const isLocal = (host: string) => isLoopback(host.includes(':') ? `[${host}]` : host.toLowerCase());

/** A command that makes a local server reachable for a service on another machine. */
export const tunnelTo = (url: string) => `cloudflared tunnel --url ${url}`;

export async function warnIfReachable(host: string, output: Output): Promise<void> {
  if (!isLocal(host)) await output.warn(`listening on ${host}: other machines can reach it, in plain HTTP`);
}
