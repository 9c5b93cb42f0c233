// The vectors that openssl signed (fixtures/webhooks). This file runs on every runtime: do not use Node's modules.
import file from '../../fixtures/webhooks/vectors.json' with { type: 'json' };

export interface Vector {
  name: string;
  /** In hex. */
  secret: string;
  timestamp: string;
  /** The name of the body. */
  body: string;
  signature: string;
}

export const vectors: readonly Vector[] = file.vectors;

/** The names of the vectors whose timestamp is refused. */
export const refused: readonly string[] = [
  ...['no-zone', 'unix-seconds', 'unix-milliseconds', 'ten-digits', 'no-such-day', 'no-such-hour'],
  ...['short-offset', 'space', 'date-only', 'http-date', 'shifted'],
];

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
}

export function vector(name: string): Vector {
  const found = vectors.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no vector ${name}`);
  return found;
}

export function bodyOf(name: string): Uint8Array<ArrayBuffer> {
  const hex = (file.bodies as Record<string, string>)[name];
  if (hex === undefined) throw new Error(`no body ${name}`);
  return fromHex(hex);
}

export function secretOf(one: Vector): Uint8Array<ArrayBuffer> {
  return fromHex(one.secret);
}

/** Decodes UTF-8 and keeps a byte order mark. */
export function text(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
