export interface KindFlags {
  apiKey?: boolean;
  token?: boolean;
  webhookSecret?: boolean;
  tenantSecret?: boolean;
}

/** The kinds of secrets in a profile. `sent`: rungate sends it, so a profile ties it to one service. */
export const secretKinds = {
  apiKey: { flag: '--api-key', name: 'apiKey', what: 'API key', sent: true },
  token: { flag: '--token', name: 'token', what: 'bearer token', sent: true },
  webhookSecret: { flag: '--webhook-secret', name: 'webhookSecrets', what: 'webhook secret', sent: false },
  tenantSecret: { flag: '--tenant-secret', name: 'tenantSecret', what: 'tenant secret', sent: false },
} as const;
export type SecretKind = keyof typeof secretKinds;

export function namedKinds(flags: KindFlags): SecretKind[] {
  return (Object.keys(secretKinds) as SecretKind[]).filter((kind) => flags[kind] === true);
}
