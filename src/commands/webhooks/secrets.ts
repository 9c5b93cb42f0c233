import { ConfigError, UsageError } from '../../errors.ts';
import type { Settings } from '../../settings/names.ts';
import { WebhookVerificationError } from '../../webhook/error.ts';
import { defaultHeaderNames, type HeaderNames } from '../../webhook/headers.ts';

export interface Secrets {
  kind: 'webhook' | 'tenant';
  /** The secrets that may have signed: only the tenant's if it is set, otherwise the webhook's. */
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

export function missingSecret(action: string): ConfigError {
  return new ConfigError(`${action}: no webhook secret is set`, {
    hint: 'set RUNGATE_WEBHOOK_SECRET or RUNGATE_WEBHOOK_SECRET_FILE (several secrets: one per line), or save the secret with rungate login --webhook-secret; if the tenant secret signs, set RUNGATE_TENANT_SECRET or RUNGATE_TENANT_SECRET_FILE',
  });
}

export function headerNamesOf(settings: Settings): HeaderNames {
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
