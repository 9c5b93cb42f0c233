import { sanitize } from '../sanitize.ts';

/** Quotes an argument for a POSIX shell, if it needs quotes. */
export function shellQuoted(text: string): string {
  const plain = sanitize(text);
  return /^[\w./:@%+=,-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", "'\\''")}'`;
}

/** Quotes an argument for cmd and PowerShell; null if that is not safe in both, as with a quote or a percent sign. */
export function windowsQuoted(text: string): string | null {
  if (/^[\w./:@+=,\\-]+$/.test(text)) return text;
  return /^[\w./:@+=,\\ -]+$/.test(text) && !text.endsWith('\\') ? `"${text}"` : null;
}

/** Returns a command in one line; null if an argument cannot be quoted for the shells of this system. */
export function quotedCommand(words: readonly string[], platform: string): string | null {
  const quoted = words.map(platform === 'win32' ? windowsQuoted : shellQuoted);
  return quoted.includes(null) ? null : quoted.join(' ');
}
