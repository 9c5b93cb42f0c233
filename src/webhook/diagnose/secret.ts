import { type Step, type Undo, undone } from './causes.ts';

export type Key = string | Uint8Array;

const isHex = (key: string) => key.length % 2 === 0 && /^[0-9A-Fa-f]{8,}$/.test(key);
const isBase64 = (key: string) => key.length >= 8 && /^[A-Za-z0-9+/_-]+={0,2}$/.test(key);

const secretUndo: Undo<string, Key> = {
  secret_white_space: (key) => [key.trim()],
  secret_newline: (key) => ['\n', '\r\n', ' '].map((end) => `${key}${end}`),
  secret_quoted: (key) => [/^(["'`])(.*)\1$/s.exec(key.trim())?.[2] ?? key],
  secret_list: (key) => key.split(/\\n|[,;\s]+/).filter((part) => part !== ''),
  secret_prefix: (key) => {
    const bare = /^[A-Za-z]{2,10}_(.+)$/s.exec(key)?.[1];
    if (bare === undefined) return [];
    return isBase64(bare) ? [bare, Buffer.from(bare, 'base64')] : [bare];
  },
  secret_hex: (key) => (isHex(key) ? [Buffer.from(key, 'hex')] : []),
  secret_base64: (key) => (isBase64(key) ? [Buffer.from(key, 'base64')] : []),
};

/** Yields keys that verification did not use: the webhook's secrets if there is a tenant secret, and their variants. */
export function* keySteps(
  secrets: readonly string[],
  tenantSecret: string | undefined,
): Generator<Step<Key>> {
  if (tenantSecret !== undefined) {
    for (const [index, value] of secrets.entries()) {
      yield { value, by: [index === 0 ? 'tenant_secret' : 'old_secret'] };
    }
    yield* undone(secretUndo, tenantSecret);
  }
  for (const secret of secrets) yield* undone(secretUndo, secret);
}
