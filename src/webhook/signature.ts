const pattern = /^sha256=([0-9A-Fa-f]{64})$/;

/** The MAC of `sha256=<hex>`, or null. Anything but ASCII hex digits is refused before it could be decoded. */
export function parseSignature(text: string): Uint8Array | null {
  const hex = pattern.exec(text)?.[1];
  if (hex === undefined) return null;
  return Uint8Array.from({ length: 32 }, (_, index) =>
    Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16),
  );
}

export function formatSignature(mac: Uint8Array): string {
  let hex = '';
  for (const byte of mac) hex += byte.toString(16).padStart(2, '0');
  return `sha256=${hex}`;
}

/** Compares without telling by its duration where the first difference is. */
export function equalMacs(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let index = 0; index < a.length; index += 1) difference |= (a[index] ?? 0) ^ (b[index] ?? 0);
  return difference === 0;
}
