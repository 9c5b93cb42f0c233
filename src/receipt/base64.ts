const alphabets = [/^[A-Za-z0-9+/]*={0,2}$/, /^[A-Za-z0-9_-]*={0,2}$/];

/**
 * Decodes base64 in its standard or its URL-safe alphabet, both of which DSSE allows. Returns null for any other text, also
 * for one that a lax decoder would accept: without padding, or with bits that encode nothing.
 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (text.length % 4 !== 0 || !alphabets.some((alphabet) => alphabet.test(text))) return null;
  const standard = text.replaceAll('-', '+').replaceAll('_', '/');
  const bytes = Uint8Array.from(atob(standard), (char) => char.charCodeAt(0));
  return toBase64(bytes) === standard ? bytes : null;
}

/** Encodes bytes in standard base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  // As arguments of one call, the bytes of a large receipt would exceed the stack.
  for (let at = 0; at < bytes.length; at += 8192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}
