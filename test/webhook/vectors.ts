// The vectors that openssl made (fixtures/webhooks). Nothing here may need Node.
import file from '../../fixtures/webhooks/vectors.json' with { type: 'json' };

export interface Vector {
  name: string;
  /** In hex. */
  secret: string;
  timestamp: string;
  /** The body's name. */
  body: string;
  signature: string;
}

export const vectors: readonly Vector[] = file.vectors;

/** Vectors with a timestamp that is refused. */
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

/** As a decoder gives it that keeps a byte order mark. */
export function text(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
