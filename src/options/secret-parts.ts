import { base64Forms, headerSecrets } from '../redact.ts';
import type { SecretId } from './table.ts';
import { linesIn } from './types.ts';

/**
 * Returns the secret parts of a receipt key: all but its BEGIN and END lines. They include each line, the base64 without line
 * breaks, which may be spaces or `\n`, and the key in hex and base64.
 */
function receiptKeySecrets(pem: string): string[] {
  return pem.split(/-----(?:BEGIN|END) [^-]*-----/).flatMap((part) => {
    const pieces = part.split(/(?:\s|\\[nr])+/);
    const base64 = pieces.join('');
    const der = Buffer.from(base64, 'base64');
    const bytes = [der, der.subarray(-32)].flatMap((key) => [key.toString('hex'), ...base64Forms(key)]);
    // A short piece tells nothing about the key, and may be a word of a comment.
    // A part that no encoding of a URL changes is found however often it was encoded.
    const plain = [base64, ...pieces].flatMap((text) => text.split(/[+/=]/));
    return [part.trim(), base64, ...bytes, ...[...pieces, ...plain].filter(({ length }) => length >= 16)];
  });
}

/** Returns every part of a secret's text that a message could contain. */
export function secretParts(id: SecretId, text: string): string[] {
  if (id === 'receiptKey') return receiptKeySecrets(text);
  // Several secrets, or one with whitespace that a message may leave out.
  const secrets = linesIn(text);
  if (id === 'headers')
    return secrets.flatMap((line) => [line, ...headerSecrets(line.slice(line.indexOf(':') + 1).trim())]);
  return [text, ...secrets, ...secrets.map((secret) => secret.trim())];
}
