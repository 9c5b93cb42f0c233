/** Environment variables by name; what is not set is undefined. */
export type ProxyEnv = Readonly<Record<string, string | undefined>>;

/** Whether the text is sound percent-encoding. */
export function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

const proxyNames = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'] as const;

/** What the environment tells of users and passwords of proxies, in each form in which it could turn up. */
export function proxySecrets(env: ProxyEnv): string[] {
  const secrets = new Set<string>();
  for (const name of proxyNames) {
    if (!Object.hasOwn(env, name)) continue;
    const text = (env[name] ?? '').trim().replace(/^[a-z][a-z0-9+.-]*:\/\//i, '');
    const at = text.lastIndexOf('@');
    if (at < 0) continue;
    const user = text.slice(0, at);
    const colon = user.indexOf(':');
    const password = colon < 0 ? user : user.slice(colon + 1);
    for (const form of [user, password]) {
      secrets.add(form);
      if (!decodes(form)) continue;
      const plain = decodeURIComponent(form);
      secrets.add(plain);
      secrets.add(Buffer.from(plain).toString('base64'));
    }
  }
  secrets.delete('');
  return [...secrets];
}

/** The address of a proxy without its user and password, for people. */
export function showProxy(text: string): string {
  const trimmed = text.trim();
  const at = trimmed.lastIndexOf('@');
  if (at < 0) return trimmed;
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(trimmed)?.[0] ?? '';
  return `${scheme}***@${trimmed.slice(at + 1)}`;
}
