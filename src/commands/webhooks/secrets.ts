import { ConfigError, UsageError } from '../../errors.ts';
import type { Settings } from '../../settings/names.ts';
import { WebhookVerificationError } from '../../webhook/error.ts';
import { defaultHeaderNames, type HeaderNames } from '../../webhook/headers.ts';
import { filled } from '../global-options.ts';

/** The options that the commands about signatures share. */
export interface HeaderNameFlags {
  timestampHeader?: string;
  signatureHeader?: string;
}

/** What deliveries are signed with. */
export interface Secrets {
  kind: 'webhook' | 'tenant';
  /** Those that may have signed: the tenant's alone where there is one, else the webhook's. */
  keys: readonly string[];
  secrets: readonly string[];
  tenantSecret: string | undefined;
}

export function secretsOf(settings: Settings): Secrets {
  const secrets = settings.webhookSecrets?.value ?? [];
  const tenantSecret = settings.tenantSecret?.value;
  return tenantSecret === undefined
    ? { kind: 'webhook', keys: secrets, secrets, tenantSecret }
    : { kind: 'tenant', keys: [tenantSecret], secrets, tenantSecret };
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

export function headerNamesOf(settings: Settings): HeaderNames {
  return {
    timestamp: settings['webhook.timestampHeader']?.value ?? defaultHeaderNames.timestamp,
    signature: settings['webhook.signatureHeader']?.value ?? defaultHeaderNames.signature,
  };
}

/** Why a delivery is not authentic. What is wrong with the call instead is thrown. */
export function refusalOf(error: unknown, what: string): WebhookVerificationError {
  if (!(error instanceof WebhookVerificationError)) throw error;
  if (error.code === 'bad_option') throw new UsageError(`${what}: ${error.message}`, { hint: error.hint });
  return error;
}
