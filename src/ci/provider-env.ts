import { repositoryOf, webUrl } from './provider-url.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** Returns the first valid value of these variables, or null. */
type Read<Value> = (...names: readonly string[]) => Value | null;

/**
 * Reads a CI's variables and records which of them were used. The values are untrusted: they are trimmed, and a value that is
 * empty, too long or contains control characters is read as null.
 */
export interface Reader {
  readonly text: Read<string>;
  /** Returns whether the variable is `true`, in upper or lower case. */
  isTrue(name: string): boolean;
  /** A branch or tag, without `refs/heads/` or `refs/tags/`; null for other refs, such as `refs/pull/1/merge`. */
  readonly ref: Read<string>;
  /** A commit, in full or abbreviated. */
  readonly sha: Read<string>;
  /** A number without sign or fraction. */
  readonly count: Read<number>;
  /** A web address without credentials. */
  readonly url: Read<string>;
  /** `owner/name`, from a value of this form or from a remote's URL. */
  readonly repository: Read<string>;
  /** Returns the value at a path in the file that `GITHUB_EVENT_PATH` names, or undefined. */
  payload(...path: readonly string[]): unknown;
  /** The variables that were used, sorted. */
  variables(): string[];
}

const longest = 1000;
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** Returns an untrusted text, trimmed, or null if it is empty, too long or contains control characters. */
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

function cleanCount(value: unknown): number | null {
  const digits = cleanText(value);
  return digits !== null && /^\d{1,9}$/.test(digits) ? Number(digits) : null;
}

function parsed(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}

/** Returns a reader of these variables and of `eventPayload`, the text of the file that `GITHUB_EVENT_PATH` names. */
export function readerOf(env: Env, eventPayload?: string): Reader {
  const used = new Set<string>();
  const reading =
    <Value>(clean: (value: unknown) => Value | null): Read<Value> =>
    (...names) => {
      for (const name of names) {
        const value = clean(env[name]);
        if (value === null) continue;
        used.add(name);
        return value;
      }
      return null;
    };
  const text = reading(cleanText);
  return {
    text,
    isTrue: (name) => text(name)?.toLowerCase() === 'true',
    ref: reading(cleanRef),
    sha: reading(cleanSha),
    count: reading(cleanCount),
    url: reading((value) => webUrl(cleanText(value))),
    repository: reading((value) => repositoryOf(cleanText(value))),
    payload: (...path) => {
      let value = parsed(eventPayload);
      for (const key of path) {
        if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
        value = (value as Record<string, unknown>)[key];
      }
      text('GITHUB_EVENT_PATH');
      return value;
    },
    variables: () => [...used].sort(),
  };
}
