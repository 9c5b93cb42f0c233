import type { CiContext, CiEvent, Provider } from './context.ts';
import { repositoryOf, webUrl } from './provider-url.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** Returns the first valid value of these variables, or null. */
type Read<Value> = (...names: readonly string[]) => Value | null;

/**
 * Reads a CI system's variables and records which of them were used. The values are untrusted: they are trimmed, and a value that is
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

export type Facts = Omit<CiContext, 'provider' | 'variables'>;

/** The source of a fact: a variable, the first of several variables that is set, or a function. */
type Source<Value> = string | readonly string[] | ((read: Reader) => Value | null);

/** The sources of the facts. A fact without a source is null: nothing is guessed. */
type Sources = {
  readonly [Name in Exclude<keyof Facts, 'event' | 'parallelIndex' | 'parallelTotal'>]?: Source<
    NonNullable<Facts[Name]>
  >;
};

/** How to detect one CI, and what its variables mean. */
export interface ProviderRow extends Sources {
  readonly provider: Provider;
  /** Detects this CI and no other: a variable that is `true`, or a function. */
  readonly detect: string | ((read: Reader) => boolean);
  /** The tag that is built; it takes precedence over `ref`. */
  readonly tag?: Source<string>;
  /** The meaning of each value of `rawEvent`; any other value is `other`. */
  readonly events?: Readonly<Record<string, CiEvent>>;
  /** Whether the job is for a pull request; by default, whether it has a `pullRequest`. */
  readonly isPullRequest?: (read: Reader) => boolean;
  /** Sources that replace the row's own in a pull request. */
  readonly inPullRequest?: Sources;
  /** The variables with the position and the number of parallel jobs, and the position of the first. */
  readonly parallel?: readonly [position: string, total: string, first: 0 | 1];
}

/** The number in a CI system where a re-run is a new pipeline, with a new `runId`. */
export const oneAttempt = () => 1;

/** No CI re-runs a job this often. Each re-run adds an idempotency key. */
const mostAttempts = 1000;

export function factsOf(row: Partial<ProviderRow>, read: Reader): Facts {
  const from = <Value>(source: Source<Value> | undefined, reader: Reader['text' | 'count']): Value | null => {
    if (typeof source === 'function') return source(read);
    return source === undefined ? null : (reader(...[source].flat()) as Value | null);
  };
  const pullRequestOf = ({ pullRequest }: Sources) => {
    const text = from(pullRequest, read.text);
    // Travis and Buildkite set the number to `false` for other events.
    return text === 'false' ? null : text;
  };
  const isPullRequest = row.isPullRequest?.(read) ?? pullRequestOf(row) !== null;
  const sources = isPullRequest ? { ...row, ...row.inPullRequest } : row;
  const tag = isPullRequest ? null : from(row.tag, read.ref);
  const rawEvent = from(sources.rawEvent, read.text);
  const attempt = from(sources.attempt, read.count);
  return {
    repository: from(sources.repository, read.repository),
    ref: tag ?? from(sources.ref, read.ref),
    commitSha: from(sources.commitSha, read.sha),
    event: eventOf(row, rawEvent, isPullRequest, tag),
    rawEvent,
    pullRequest: pullRequestOf(sources),
    buildUrl: from(sources.buildUrl, read.url),
    runId: from(sources.runId, read.text),
    job: from(sources.job, read.text),
    jobId: from(sources.jobId, read.text),
    step: from(sources.step, read.text),
    attempt: attempt !== null && attempt >= 1 && attempt <= mostAttempts ? attempt : null,
    matrix: from(sources.matrix, read.text),
    ...parallelOf(row, read),
    temporaryFolder: from(sources.temporaryFolder, read.text),
  };
}

/** Returns the event. A push, or an unknown event, of a pull request or a tag is reported as `pull_request` or `tag`. */
function eventOf(
  { events = {} }: Partial<ProviderRow>,
  rawEvent: string | null,
  isPullRequest: boolean,
  tag: string | null,
): CiEvent | null {
  const named = rawEvent !== null && Object.hasOwn(events, rawEvent) ? events[rawEvent] : undefined;
  const event = named ?? (rawEvent === null ? null : 'other');
  if (event !== null && event !== 'push') return event;
  if (isPullRequest) return 'pull_request';
  return tag === null ? event : 'tag';
}

/** Returns the position, counted from 0, and the number of parallel jobs; both null unless they are consistent. */
function parallelOf(
  { parallel }: Partial<ProviderRow>,
  read: Reader,
): Pick<Facts, 'parallelIndex' | 'parallelTotal'> {
  const unknown = { parallelIndex: null, parallelTotal: null };
  if (parallel === undefined) return unknown;
  const [position, total, first] = parallel;
  const parallelIndex = (read.count(position) ?? -1) - first;
  const parallelTotal = read.count(total) ?? 0;
  return parallelIndex >= 0 && parallelIndex < parallelTotal ? { parallelIndex, parallelTotal } : unknown;
}

/** Returns the first group of a pattern, or null. */
export function groupOf(pattern: RegExp, text: string | null): string | null {
  return (text === null ? null : pattern.exec(text)?.[1]) ?? null;
}
