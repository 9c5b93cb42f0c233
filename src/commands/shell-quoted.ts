import { sanitize } from '../sanitize.ts';

/** Quotes an argument for a POSIX shell, if it needs quotes. */
export function shellQuoted(text: string): string {
  const plain = sanitize(text);
  return /^[\w./:@%+=,-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", "'\\''")}'`;
}
