import type { Redact } from '../redact.ts';
import { redactJson } from './rewrite.ts';
import { objectText } from './text.ts';

type Texts = Readonly<Record<string, string | undefined>>;

/** The key for the JSON texts of an object's fields whose numbers lost digits when parsed. Spreading the object copies it. */
const texts = Symbol('texts');

/** Returns the object with the original texts of the fields that JSON.stringify would change, for `exactJson`. */
export function withTexts<T extends object>(object: T, original: Texts): T {
  const lost = Object.entries(original).filter(([name, text]) => {
    const value = (object as Record<string, unknown>)[name];
    const isExact = value === null || JSON.stringify(value) === text;
    return text !== undefined && !isExact;
  });
  return lost.length === 0 ? object : { ...object, [texts]: Object.fromEntries(lost) };
}

export function textsOf(object: object): Texts {
  return (object as { [texts]?: Texts })[texts] ?? {};
}

/** Returns the copy with the redacted texts of the object. */
export function copyTexts<T extends object>(object: object, copy: T, redact: Redact): T {
  const redacted = Object.entries(textsOf(object)).map(([name, text]) => [
    name,
    text && redactJson(text, redact),
  ]);
  return withTexts(copy, Object.fromEntries(redacted));
}

/** Returns the JSON text of a plain value, with the texts that `withTexts` recorded. */
export function exactJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(exactJson).join(',')}]`;
  const texts = new Map(Object.entries(textsOf(value)));
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return objectText(members.map(([name, member]) => [name, texts.get(name) ?? exactJson(member)]));
}
