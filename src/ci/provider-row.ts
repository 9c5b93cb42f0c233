import type { CiContext, CiEvent, Provider } from './context.ts';
import type { Reader } from './provider-env.ts';

/** All that a CI may say. A row names every one of them: what its CI does not say is null there, in so many letters. */
export type Facts = Omit<CiContext, 'provider' | 'variables'>;

/** What one CI sets, and what it means by it. */
export interface ProviderRow {
  readonly provider: Provider;
  /** Whether we run in it, by what nothing else sets. */
  detect(read: Reader): boolean;
  /** `eventPayload` is the text of the file that GITHUB_EVENT_PATH names. */
  facts(read: Reader, eventPayload: string | undefined): Facts;
}

/** What a CI's own word for an event means: a word that is not in its table is `other`, no word is no event. */
export function eventOf(words: Readonly<Record<string, CiEvent>>, word: string | null): CiEvent | null {
  if (word === null) return null;
  return Object.hasOwn(words, word) ? (words[word] ?? 'other') : 'other';
}

/** Position and number of parallel jobs, from where the CI begins to count; both null unless they fit. */
export function parallel(
  position: number | null,
  total: number | null,
  first: 0 | 1,
): Pick<Facts, 'parallelIndex' | 'parallelTotal'> {
  const index = (position ?? -1) - first;
  if (position === null || total === null || index < 0 || index >= total) {
    return { parallelIndex: null, parallelTotal: null };
  }
  return { parallelIndex: index, parallelTotal: total };
}

/** What the first group of a pattern holds, or null. */
export function groupOf(pattern: RegExp, text: string | null): string | null {
  return (text === null ? null : pattern.exec(text)?.[1]) ?? null;
}
