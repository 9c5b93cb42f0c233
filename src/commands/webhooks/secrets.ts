import { ConfigError, UsageError } from '../../errors.ts';
import type { Settings } from '../../settings/names.ts';
import { headerName, InvalidValue } from '../../settings/value-types.ts';
import { WebhookVerificationError } from '../../webhook/error.ts';
import { defaultHeaderNames, type HeaderNames } from '../../webhook/headers.ts';
import { filled } from '../global-options.ts';

/** The options that `verify`, `sign` and `listen` share. */
export interface HeaderNameFlags {
  timestampHeader?: string;
  signatureHeader?: string;
}

/** The configured secrets. */
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

function headerNameOf(option: string, text: string | undefined): string | undefined {
  const name = filled(option, text);
  try {
    return name === undefined ? undefined : headerName.read(name);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw new UsageError(`${option}: ${error.message}`);
  }
}

/** Returns the settings for the names of the two headers. @throws UsageError */
export function headerNameSettings(flags: HeaderNameFlags): {
  'webhook.timestampHeader'?: string;
  'webhook.signatureHeader'?: string;
} {
  const timestamp = headerNameOf('--timestamp-header', flags.timestampHeader);
  const signature = headerNameOf('--signature-header', flags.signatureHeader);
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

/**
 * Returns the reason why a delivery is not authentic.
 * @throws UsageError for an invalid option, and every other error unchanged
 */
export function refusalOf(error: unknown, command: string): WebhookVerificationError {
  if (!(error instanceof WebhookVerificationError)) throw error;
  if (error.code === 'bad_option') throw new UsageError(`${command}: ${error.message}`, { hint: error.hint });
  return error;
}
