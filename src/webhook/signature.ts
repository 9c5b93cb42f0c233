const pattern = /^sha256=[0-9A-Fa-f]{64}$/;

/** The MAC of `sha256=<hex>` as lower-case hex, or null. Anything but ASCII hex digits is refused. */
export function parseSignature(text: string): string | null {
  return pattern.test(text) ? text.slice(7).toLowerCase() : null;
}

export function toHex(bytes: Uint8Array): string {
  let hex = '';
  for (const byte of bytes) hex += byte.toString(16).padStart(2, '0');
  return hex;
}

/** Compares without telling by its duration where the first difference is. */
export function equalHex(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let index = 0; index < a.length; index += 1) difference |= a.charCodeAt(index) ^ b.charCodeAt(index);
  return difference === 0;
}
