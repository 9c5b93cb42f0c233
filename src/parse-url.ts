/** Returns the URL, or null for other text. On Node 20, `URL.canParse` fails for non-ASCII text once it is optimized. */
export function parseUrl(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}
