import { repositoryOf, webUrl } from './provider-url.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads a CI's variables and notes which of them said something. What they hold is not to be trusted: it is trimmed,
 * empty is null, and so is what has control characters or is too long to be what it should be.
 */
export interface Reader {
  text(name: string): string | null;
  /** Whether the variable is `true`, in whatever case. */
  isTrue(name: string): boolean;
  /** A branch or tag, without `refs/heads/` or `refs/tags/`; null for other refs, such as `refs/pull/1/merge`. */
  ref(name: string): string | null;
  /** A commit, in full or abbreviated. */
  sha(name: string): string | null;
  /** A number without sign or fraction. */
  count(name: string): number | null;
  /** An address for the browser, without credentials. */
  url(name: string): string | null;
  /** `owner/name`, from that or from a remote's URL. */
  repository(name: string): string | null;
  /** The variables that were there and fit to be read, sorted. */
  variables(): string[];
}

const longest = 1000;
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** A text from outside as it may be used, or null. */
export function cleanText(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  return text === '' || text.length > longest || control.test(text) ? null : text;
}

export function cleanSha(value: unknown): string | null {
  const text = cleanText(value)?.toLowerCase() ?? null;
  return text !== null && /^[0-9a-f]{7,64}$/.test(text) ? text : null;
}

export function cleanRef(value: unknown): string | null {
  const text = cleanText(value);
  if (text === null) return null;
  const [, short] = /^refs\/(?:heads|tags)\/(.+)$/.exec(text) ?? [];
  return short ?? (text.startsWith('refs/') ? null : text);
}

/** A reader of these variables that has read none yet. */
export function readerOf(env: Env): Reader {
  const read = new Set<string>();
  const noted = <T>(name: string, value: T | null): T | null => {
    if (value !== null) read.add(name);
    return value;
  };
  const text = (name: string) => noted(name, cleanText(env[name]));
  return {
    text,
    isTrue: (name) => text(name)?.toLowerCase() === 'true',
    ref: (name) => noted(name, cleanRef(env[name])),
    sha: (name) => noted(name, cleanSha(env[name])),
    count: (name) => {
      const digits = cleanText(env[name]);
      return noted(name, digits !== null && /^\d{1,9}$/.test(digits) ? Number(digits) : null);
    },
    url: (name) => noted(name, webUrl(cleanText(env[name]))),
    repository: (name) => noted(name, repositoryOf(cleanText(env[name]))),
    variables: () => [...read].sort(),
  };
}
