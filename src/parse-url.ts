/** Returns the URL, or null for text that is none. On Node 20, `URL.canParse` errs about non-ASCII text once it is optimized. */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
