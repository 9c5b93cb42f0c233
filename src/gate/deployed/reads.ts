import { MismatchError, type NameOf, NetworkError, type RungateError } from '../../errors.ts';
import type { VersionRead } from '../result-types.ts';
import { agreeing } from '../steps.ts';

/** One read of the version page: the version, or the reason why there is none. */
export type PageReading =
  | {
      text: string;
      matches: boolean;
      /** The expected version that matched; default: the text. */
      version?: string | undefined;
    }
  | { error: RungateError };

export type Phase = VersionRead['phase'];

/** The reads so far. */
export interface SeenBuild {
  /** The first read, and each one that differs from the one before it. */
  readonly changes: readonly VersionRead[];
  readonly last: VersionRead | null;
  /** The expected version that the page showed: of several, all later reads must show this one. */
  readonly build: string | null;
  /** The reads in a row, up to the last one, that showed the expected version. */
  readonly inARow: number;
  /** The first read since the run was created that showed another version. */
  readonly other: VersionRead | null;
  /** The error of the last read that failed. */
  readonly error: RungateError | null;
}

export const nothingSeen: SeenBuild = {
  changes: [],
  last: null,
  build: null,
  inARow: 0,
  other: null,
  error: null,
};

const differs = (a: VersionRead, b: VersionRead | null) =>
  b === null || a.text !== b.text || a.matches !== b.matches || a.error !== b.error;

/** @param now in milliseconds since the epoch */
export function withReading(seen: SeenBuild, phase: Phase, reading: PageReading, now: number): SeenBuild {
  const failed = 'error' in reading;
  const version = failed || !reading.matches ? null : (reading.version ?? reading.text);
  // Before the run is created, the build may still change.
  const isSame = phase === 'before' || seen.build === null || version === seen.build;
  const last: VersionRead = {
    at: new Date(now).toISOString(),
    phase,
    text: failed ? null : reading.text,
    matches: version !== null && isSame,
    error: failed ? reading.error.message : null,
  };
  const isOther = phase !== 'before' && !failed && !last.matches;
  return {
    changes: differs(last, seen.last) ? [...seen.changes, last] : seen.changes,
    last,
    build: phase === 'before' ? (version ?? seen.build) : (seen.build ?? version),
    inARow: !last.matches ? 0 : version === seen.build ? seen.inARow + 1 : 1,
    other: seen.other ?? (isOther ? last : null),
    error: failed ? reading.error : seen.error,
  };
}

export const isDeployed = ({ inARow }: SeenBuild): boolean => inARow >= agreeing;

/** Returns the first read, every change and the last read. */
export function reported({ changes, last }: SeenBuild): VersionRead[] {
  return last === null || changes.at(-1) === last ? [...changes] : [...changes, last];
}

/** The version page and the expected versions, for messages. */
export interface ExpectedBuild {
  /** The URL of the page as it may be shown. */
  page: string;
  /** The page should show any one of them. */
  versions: readonly string[];
}

/** Returns why another build was tested, or an unknown one. */
export function buildProblem(
  { other, build, error }: SeenBuild,
  { page, versions }: ExpectedBuild,
): RungateError {
  if (other === null) return error ?? new NetworkError('deadline', `${page} was not read after the run`);
  const when = other.phase === 'after' ? 'after the run' : 'during the run';
  const message = `${page} showed ${inQuotes(other.text)} ${when} (${other.at}), not ${anyOf(build === null ? versions : [build])}`;
  const hint = 'deploy nothing else while a gate waits; deployed.reads in the JSON result lists every change';
  return new MismatchError(message, { hint });
}

const inQuotes = (text: string | null) => `"${text ?? ''}"`;
const anyOf = (versions: readonly string[]) => versions.map(inQuotes).join(' or ');

/** Returns what a gate waits for before it creates its run, for messages. */
export const awaitedText = ({ page, versions }: ExpectedBuild) => `${page} to show ${anyOf(versions)}`;

/** Returns the error of a gate that created no run, because the expected build did not appear in time. */
export function neverDeployed(
  { changes, error }: SeenBuild,
  { page, versions }: ExpectedBuild,
  waited: string,
  nameOf: NameOf,
): MismatchError {
  const texts = [...new Set(changes.flatMap(({ text }) => text ?? []))];
  if (texts.length === 0 && error !== null)
    return new MismatchError(`rungate waited ${waited}, but ${error.message}`, {
      hint:
        error.hint ??
        `check ${nameOf('deployed.url')} and ${nameOf('deployed.pointer')}, and that the rollout has finished`,
    });
  const shown = texts.slice(-3).map(inQuotes).join(', ');
  const isJson = texts.at(-1)?.startsWith('{') === true;
  return new MismatchError(
    `${page} did not show ${anyOf(versions)} in ${agreeing} reads in a row within ${waited}: it showed ${shown}`,
    {
      hint: isJson
        ? `the page is JSON: set ${nameOf('deployed.pointer')} to the field with the version, such as /version`
        : `check that the rollout has finished, or increase ${nameOf('deployed.timeout')}`,
    },
  );
}
