import { parsedJson } from '../json/text.ts';
import type { CiContext, GitFacts, Provider } from './context.ts';
import { repositoryOf, repositoryOfRemote, webUrl } from './provider-url.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** Returns the first valid value of these variables, or null. */
type Read<Value> = (...names: readonly string[]) => Value | null;

const longest = 1000;
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** Returns an untrusted text, trimmed, or null if it is empty, too long or contains control characters. */
export function cleanText(value: unknown): string | null {
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' || text.length > longest || control.test(text) ? null : text;
}

export function cleanSha(value: unknown): string | null {
  return groupOf(/^([0-9a-f]{7,64})$/, cleanText(value)?.toLowerCase() ?? null);
}

export function cleanRef(value: unknown): string | null {
  return groupOf(/^(?:refs\/(?:heads|tags)\/|(?!refs\/))(.+)$/, cleanText(value));
}

function cleanCount(value: unknown): number | null {
  const digits = groupOf(/^(\d{1,9})$/, cleanText(value));
  return digits === null ? null : Number(digits);
}

/**
 * Reads a CI system's variables, which are untrusted, and records which of them were used.
 * @param eventPayload the text of the file that `GITHUB_EVENT_PATH` names
 */
export function readerOf(env: Env, eventPayload?: string) {
  const used = new Set<string>();
  const reading =
    <Value>(clean: (value: unknown) => Value | null): Read<Value> =>
    (...names) => {
      const name = names.find((name) => clean(env[name]) !== null);
      if (name === undefined) return null;
      used.add(name);
      return clean(env[name]);
    };
  const text = reading(cleanText);
  return {
    text,
    /** A branch or tag, without `refs/heads/` or `refs/tags/`; null for other refs, such as `refs/pull/1/merge`. */
    ref: reading(cleanRef),
    /** A commit, in full or abbreviated. */
    sha: reading(cleanSha),
    /** A number without sign or fraction. */
    count: reading(cleanCount),
    url: reading((value) => webUrl(cleanText(value))),
    repository: reading((value) => repositoryOf(cleanText(value))),
    /** Returns the value at a path in the event, or undefined. */
    payload(...path: readonly string[]): unknown {
      let value = parsedJson(eventPayload ?? '');
      for (const key of path) {
        if (!Object.hasOwn(Object(value), key)) return undefined;
        value = Object(value)[key];
      }
      text('GITHUB_EVENT_PATH');
      return value;
    },
    /** The variables that were used, sorted. */
    variables: () => [...used].sort(),
  };
}
export type Reader = ReturnType<typeof readerOf>;

export type Facts = Omit<CiContext, 'provider' | 'variables'>;

/** The source of a fact: a variable, the first of several variables that is set, or a function. */
type Source<Value = string> = string | readonly string[] | ((read: Reader) => Value | null);

/** How to detect one CI, and the sources of the facts. A fact without a source is null: nothing is guessed. */
export interface ProviderRow {
  readonly provider: Provider;
  /** Detects this CI and no other: a variable that is `true`, or a function. */
  readonly detect: string | ((read: Reader) => boolean);
  readonly repository?: Source;
  /** The tag that is built; it takes precedence over `ref`. */
  readonly tag?: Source;
  readonly ref?: Source;
  readonly commitSha?: Source;
  readonly event?: Source;
  /** Has a value in a pull request, if the event does not say so already. `false` is none. */
  readonly pull?: Source;
  /** Sources that replace the row's own in a pull request. */
  readonly inPull?: Pick<ProviderRow, 'ref' | 'commitSha'>;
  readonly buildUrl?: Source;
  readonly runId?: Source;
  readonly job?: Source;
  readonly jobId?: Source;
  readonly step?: Source;
  readonly attempt?: Source<number>;
  readonly matrix?: Source;
  /** The variables with the position and the number of parallel jobs, and the position of the first. */
  readonly parallel?: readonly [position: string, total: string, first: 0 | 1];
  readonly temporaryFolder?: Source;
}

/** The number in a CI system where a re-run is a new pipeline, with a new `runId`. */
export const oneAttempt = () => 1;

/** No CI re-runs a job this often. Each re-run adds an idempotency key. */
const mostAttempts = 1000;

/** An event of a pull request, as the CI systems name it. */
const pullEvent = /pull_?request|^merge_request|^MERGE$/i;

/**
 * Returns the facts. In a pull request only the repository comes from git, because the working copy may be the merge commit that
 * the CI generated. An abbreviated commit is completed if it matches the commit of the working copy.
 */
export function factsOf(row: Partial<ProviderRow>, read: Reader, git?: GitFacts): Facts {
  const from = <Value = string>(source: Source<Value> | undefined, reader: Reader['text' | 'count']) => {
    if (typeof source === 'function') return source(read);
    return source === undefined ? null : (reader(...[source].flat()) as Value | null);
  };
  const event = from(row.event, read.text);
  // Travis and Buildkite set it to `false` for other events.
  const isPull = pullEvent.test(event ?? '') || ![null, 'false'].includes(from(row.pull, read.text));
  const { ref, commitSha } = isPull ? { ...row, ...row.inPull } : row;
  const tag = isPull ? null : from(row.tag, read.ref);
  const commit = from(commitSha, read.sha);
  const gitCommit = cleanSha(git?.commit);
  const isGitCommit = commit === null ? !isPull : gitCommit?.startsWith(commit) === true;
  const attempt = from(row.attempt, read.count) ?? 0;
  return {
    repository: from(row.repository, read.repository) ?? repositoryOfRemote(cleanText(git?.remote)),
    ref: tag ?? from(ref, read.ref) ?? (isPull ? null : cleanRef(git?.branch)),
    commitSha: isGitCommit ? gitCommit : commit,
    event: event ?? (isPull ? 'pull_request' : tag && 'tag'),
    buildUrl: from(row.buildUrl, read.url),
    runId: from(row.runId, read.text),
    job: from(row.job, read.text),
    jobId: from(row.jobId, read.text),
    step: from(row.step, read.text),
    attempt: attempt >= 1 && attempt <= mostAttempts ? attempt : null,
    matrix: from(row.matrix, read.text),
    parallelIndex: parallelIndexOf(row, read),
    temporaryFolder: from(row.temporaryFolder, read.text),
  };
}

/** Returns the position among parallel jobs, counted from 0; null unless it fits their number. */
function parallelIndexOf({ parallel }: Partial<ProviderRow>, read: Reader): number | null {
  if (parallel === undefined) return null;
  const [position, total, first] = parallel;
  const index = (read.count(position) ?? -1) - first;
  return index >= 0 && index < (read.count(total) ?? 0) ? index : null;
}

/** Returns the first group of a pattern, or null. */
export function groupOf(pattern: RegExp, text: string | null): string | null {
  return (text === null ? null : pattern.exec(text)?.[1]) ?? null;
}
