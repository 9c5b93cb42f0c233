import type { Redact } from './redact.ts';
import { redactJson } from './redact-json.ts';

type Texts = Readonly<Record<string, string | undefined>>;

/** Where an object has the JSON texts of fields whose digits a number of JavaScript has lost. Copies of the object have it too. */
const texts = Symbol('texts');

/** Returns the object with the texts that its fields came as, for `renderJson`: only those that JSON.stringify would change. */
export function withTexts<T extends object>(object: T, given: Texts): T {
  const lost = Object.entries(given).filter(([name, text]) => {
    const value = (object as Record<string, unknown>)[name];
    const isExact = value === null || JSON.stringify(value) === text;
    return text !== undefined && !isExact;
  });
  return lost.length === 0 ? object : { ...object, [texts]: Object.fromEntries(lost) };
}

/** Returns the texts that `withTexts` has kept. */
export function textsOf(object: object): Texts {
  return (object as { [texts]?: Texts })[texts] ?? {};
}

/** Returns the copy with the texts of the object, without secrets. */
export function copyTexts<T extends object>(object: object, copy: T, redact: Redact): T {
  const redacted = Object.entries(textsOf(object)).map(([name, text]) => [
    name,
    text && redactJson(text, redact),
  ]);
  return withTexts(copy, Object.fromEntries(redacted));
}
