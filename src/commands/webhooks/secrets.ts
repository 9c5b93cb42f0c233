import { ConfigError, UsageError } from '../../errors.ts';
import type { Settings } from '../../settings/names.ts';
import { WebhookVerificationError } from '../../webhook/error.ts';
import type { HeaderNames } from '../../webhook/headers.ts';
import { filled } from '../global-options.ts';

/** The options that the commands about signatures share. */
export interface HeaderNameFlags {
  timestampHeader?: string;
  signatureHeader?: string;
}

export interface Secrets {
  secrets: readonly string[];
  tenantSecret: string | undefined;
}

/** What deliveries are signed with; a tenant's secret takes the place of the webhook's. */
export function secretsOf(settings: Settings): Secrets {
  return { secrets: settings.webhookSecrets?.value ?? [], tenantSecret: settings.tenantSecret?.value };
}

export function hasSecret({ secrets, tenantSecret }: Secrets): boolean {
  return secrets.length > 0 || tenantSecret !== undefined;
}

export function missingSecret(what: string): ConfigError {
  return new ConfigError(`${what}: no webhook secret is set`, {
    hint: 'set RUNGATE_WEBHOOK_SECRET or RUNGATE_WEBHOOK_SECRET_FILE (several secrets: one in a line), or keep it: rungate login --webhook-secret; where the tenant signs, RUNGATE_TENANT_SECRET or RUNGATE_TENANT_SECRET_FILE',
  });
}

/** What the service calls the two headers. */
export function headerNameSettings(flags: HeaderNameFlags): {
  'webhook.timestampHeader'?: string;
  'webhook.signatureHeader'?: string;
} {
  const timestamp = filled('--timestamp-header', flags.timestampHeader);
  const signature = filled('--signature-header', flags.signatureHeader);
  return {
    ...(timestamp === undefined ? {} : { 'webhook.timestampHeader': timestamp }),
    ...(signature === undefined ? {} : { 'webhook.signatureHeader': signature }),
  };
}

export function headerNamesOf(settings: Settings): Partial<HeaderNames> {
  const timestamp = settings['webhook.timestampHeader']?.value;
  const signature = settings['webhook.signatureHeader']?.value;
  return {
    ...(timestamp === undefined ? {} : { timestamp }),
    ...(signature === undefined ? {} : { signature }),
  };
}

/** What is wrong with the call and not with the delivery; everything else is handed back. */
export function refusalOf(error: unknown, what: string): WebhookVerificationError {
  if (!(error instanceof WebhookVerificationError)) throw error;
  if (error.code === 'no_secret') throw missingSecret(what);
  if (error.code === 'bad_option') throw new UsageError(`${what}: ${error.message}`, { hint: error.hint });
  return error;
}
