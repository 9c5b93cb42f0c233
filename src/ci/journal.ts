import { renameSync } from 'node:fs';
import { ConfigError } from '../errors.ts';
import type { KeyStep, RunJournal } from '../gate/events.ts';
import type { Redact } from '../redact.ts';
import { excerpt } from '../sanitize.ts';
import { appendOwnFile, readOwnFile } from './own-file.ts';

/** The place that a run was started from, and the job that did it. Pipelines may share a journal, but not the runs in it. */
export interface Origin {
  /** Identifies the place in the pipeline and the body, as `baseOf` does. It is random for keys that are not made from them. */
  readonly base: string;
  /** Identifies the re-run of the job, as `jobOf` does. */
  readonly job: string;
}

/** One line of a journal. Lines are only appended, so that concurrent processes cannot damage each other's lines. */
export type JournalEvent =
  // Older versions recorded no origin.
  | ({ event: 'triggering'; key: string; round: number; body?: unknown } & Partial<Origin>)
  | { event: 'created'; key: string; runId: string; appUrl: string | null }
  | { event: 'settled'; runId: string }
  | { event: 'environment'; key: string; step: RecordedStep; job: string };

type RecordedStep = Parameters<RunJournal['environment']>[1];

/** A run in the journal. Its origin is that of the first process that used the key. */
export interface JournalRun extends Origin {
  readonly key: string;
  /** The number of runs that were settled when this one was started; 0 for the first. */
  readonly round: number;
  /** The job is done with the run: it saw the run end, or it only had to start it. */
  settled: boolean;
  /** Null until the service has responded with it. */
  runId: string | null;
  /** The body of the request that creates the run, to send it again if it got no response; null if it is not in the journal. */
  readonly body: unknown;
}

function isEvent(value: unknown): value is JournalEvent {
  if (typeof value !== 'object' || value === null) return false;
  const { event, key, round, runId, step, job } = value as Record<string, unknown>;
  if (event === 'triggering') return typeof key === 'string' && Number.isInteger(round);
  if (event === 'created') return typeof key === 'string' && typeof runId === 'string';
  if (event === 'environment') return [key, step, job].every((text) => typeof text === 'string');
  return event === 'settled' && typeof runId === 'string';
}

const lineStart = '{"event":"';

/** Returns the events in the text of a journal, or null if the text is not a journal. */
export function parseJournal(text: string): JournalEvent[] | null {
  const events: JournalEvent[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    let event: unknown;
    try {
      event = JSON.parse(line);
    } catch {
      // kill -9 may cut off the last line at any byte; the other lines stay intact.
      if (lineStart.startsWith(line.slice(0, lineStart.length))) continue;
      return null;
    }
    if (!isEvent(event)) return null;
    events.push(event);
  }
  return events;
}

/** Returns the runs in the order in which they were started, without those of an older version. */
export function runsOf(events: readonly JournalEvent[]): JournalRun[] {
  const byKey = new Map<string, JournalRun>();
  for (const entry of events) {
    if (entry.event === 'triggering') {
      const { key, round, base, job, body = null } = entry;
      if (base === undefined || job === undefined || byKey.has(key)) continue;
      byKey.set(key, { key, round, base, job, runId: null, body, settled: false });
    } else if (entry.event === 'created') {
      const run = byKey.get(entry.key);
      if (run !== undefined) run.runId = entry.runId;
    } else if (entry.event === 'settled') {
      for (const run of byKey.values()) if (run.runId === entry.runId) run.settled = true;
    }
  }
  return [...byKey.values()];
}

/** Returns the keys of the environments that a job created, or may have created, and has not deleted, with the last step of each. */
export function environmentsOf(events: readonly JournalEvent[], job: string): Map<string, RecordedStep> {
  const steps = new Map<string, RecordedStep>();
  for (const entry of events)
    if (entry.event === 'environment' && entry.job === job) steps.set(entry.key, entry.step);
  return new Map([...steps].filter(([, step]) => step !== 'deleted'));
}

/** The file of a journal, and the origin of the runs that this process starts. */
export interface JournalFile extends Origin {
  readonly path: string;
  /** Whether the user named the file. Otherwise its name is rungate's own. */
  readonly named: boolean;
  /** A damaged file stays where it is. */
  readonly readOnly?: boolean;
}

export interface Journal extends RunJournal {
  /** The runs that this process or another one started earlier with the same base. */
  readonly runs: readonly JournalRun[];
}

/**
 * Opens the journal of a job. A damaged journal is moved aside with a warning, unless the user named the file. If the journal
 * cannot be read or written, rungate warns and continues without it.
 * @param redact finds secrets; an event that contains one is not written
 * @throws ConfigError if the user named a file that is not a journal
 */
export function openJournal(
  { path, named, base, job, readOnly = false }: JournalFile,
  now: Date,
  warn: (problem: string) => void,
  redact: Redact,
): Journal {
  let usable = true;
  const giveUp = (problem: string) => {
    usable = false;
    warn(
      `${problem}; rungate continues without it, and a retry loop in this job may find an ended run before it starts a new one`,
    );
  };
  let events: JournalEvent[] = [];
  try {
    const read = parseJournal(readOwnFile(path) ?? '');
    if (read === null && named) {
      throw new ConfigError(`RUNGATE_JOURNAL is not a journal: ${excerpt(path)}`, {
        hint: 'name a file that does not exist yet, or unset RUNGATE_JOURNAL; the file was left as it is',
      });
    }
    if (read === null && !readOnly) {
      const aside = `${path}.corrupt-${now.getTime()}`;
      renameSync(path, aside);
      warn(`the journal ${path} is damaged; it was moved to ${aside}, and rungate starts a new one`);
    } else {
      events = read ?? [];
    }
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    giveUp(`the journal ${path} cannot be used: ${(error as Error).message}`);
  }
  const runs = runsOf(events).filter((run) => run.base === base);
  const round = runs.reduce((next, run) => (run.settled ? Math.max(next, run.round + 1) : next), 0);
  const open = runs.filter((run) => !run.settled).at(-1);

  const hasSecret = (value: unknown) => {
    const text = JSON.stringify(value) ?? '';
    return redact(text) !== text;
  };
  const add = (event: JournalEvent) => {
    // A run that is missing here is found by its key, as it would be if the process were killed at this moment.
    if (!usable || hasSecret(event)) return;
    try {
      // The leading line break separates it from a line that was cut off.
      appendOwnFile(path, `\n${JSON.stringify(event)}\n`);
    } catch (error) {
      giveUp(`the journal ${path} cannot be written: ${(error as Error).message}`);
    }
  };
  return {
    runs,
    triggering({ key, round: own }: KeyStep, body) {
      const known = runs.find((run) => run.key === key);
      add({
        event: 'triggering',
        key,
        round: known?.round ?? own ?? (open === undefined ? round : open.round + 1),
        base,
        job,
        ...(hasSecret(body) ? {} : { body }),
      });
    },
    created: ({ key }, { runId, appUrl }) =>
      add({ event: 'created', key, runId, appUrl: appUrl && redact(appUrl) }),
    settled: (runId) => add({ event: 'settled', runId }),
    environment: (key, step) => add({ event: 'environment', key, step, job }),
  };
}
