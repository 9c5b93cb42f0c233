import type { RunJournal } from '../gate/events.ts';
import { redactReport } from '../gate/report.ts';
import type { PastRun } from '../gate/state.ts';
import type { Redact } from '../redact.ts';
import { appendOwnFile, readOwnFile } from './own-file.ts';

/** The place that a run was started from, and the job that did it. The gates of a job share a journal, but not the runs in it. */
interface Origin {
  /** Identifies the place in the pipeline and the body, as `baseOf` does. It is random for keys that are not made from them. */
  readonly base: string;
  /** Identifies the re-run of the job, as `jobOf` does. */
  readonly job: string;
}

type RecordedStep = Parameters<RunJournal['environment']>[1];

/** One line of a journal. Lines are only appended, so that concurrent processes cannot damage each other's lines. */
export type JournalEvent =
  | ({ event: 'triggering'; key: string; past?: readonly PastRun[]; body?: unknown } & Origin)
  | { event: 'created'; key: string; runId: string }
  | { event: 'settled'; runId: string }
  | { event: 'environment'; key: string; step: RecordedStep; baseUrl: string };

/** A run in the journal. Its origin is that of the first process that used the key. */
export interface JournalRun extends Origin {
  readonly key: string;
  /** The gate's runs under the keys before it. */
  readonly past: readonly PastRun[];
  /** The job is done with the run: it saw the run end, or it only had to start it. */
  settled: boolean;
  /** Null until the service has responded with it. */
  runId: string | null;
  /** The body of the request that creates the run, to send it again if it got no response; null if it is not in the journal. */
  readonly body: unknown;
}

/** The texts that each event has. */
const texts = {
  triggering: ['key', 'base', 'job'],
  created: ['key', 'runId'],
  settled: ['runId'],
  environment: ['key', 'step', 'baseUrl'],
} as const satisfies Record<JournalEvent['event'], readonly string[]>;

function isEvent(value: unknown): value is JournalEvent {
  const { event, ...fields } = Object(value) as Record<string, unknown>;
  if (typeof event !== 'string' || !Object.hasOwn(texts, event)) return false;
  return texts[event as keyof typeof texts].every((name) => typeof fields[name] === 'string');
}

const lineStart = '{"event":"';

/** Returns the events in the text of a journal, or null if the text is not a journal. */
export function parseJournal(text: string): JournalEvent[] | null {
  const events: JournalEvent[] = [];
  for (const line of text.split('\n').filter((line) => line !== '')) {
    let event: unknown;
    try {
      event = JSON.parse(line);
    } catch {
      // kill -9 may cut off the last line at any byte; the other lines stay intact.
      if (lineStart.startsWith(line.slice(0, lineStart.length))) continue;
    }
    if (!isEvent(event)) return null;
    events.push(event);
  }
  return events;
}

/** Returns the runs in the order in which they were started. */
export function runsOf(events: readonly JournalEvent[]): JournalRun[] {
  const byKey = new Map<string, JournalRun>();
  for (const entry of events) {
    if (entry.event === 'triggering') {
      const { key, past = [], base, job, body = null } = entry;
      if (!byKey.has(key)) byKey.set(key, { key, past, base, job, runId: null, body, settled: false });
    } else if (entry.event === 'created') {
      const run = byKey.get(entry.key);
      if (run !== undefined) run.runId = entry.runId;
    } else if (entry.event === 'settled') {
      for (const run of byKey.values()) if (run.runId === entry.runId) run.settled = true;
    }
  }
  return [...byKey.values()];
}

/** An environment with the last step of a job, and the URL of its deployment without the query. */
export type JournalEnvironment = Extract<JournalEvent, { event: 'environment' }>;

/** Returns the environments that were created, or may have been, and are not deleted. */
export function environmentsOf(events: readonly JournalEvent[]): JournalEnvironment[] {
  const own = events.flatMap((entry) => (entry.event === 'environment' ? entry : []));
  const last = new Map(own.map((entry) => [entry.key, entry]));
  return [...last.values()].filter(({ step }) => step !== 'deleted');
}

/** The file of a journal, and the origin of the runs that this process starts. */
export interface JournalFile extends Origin {
  readonly path: string;
}

export interface JournalTools {
  /** Receives the reason why the journal cannot be used. */
  readonly warn: (problem: string) => void;
  /** Finds secrets: an event that contains one is not written. */
  readonly redact: Redact;
}

export interface Journal extends RunJournal {
  /** The runs that this process or another one started earlier with the same base. */
  readonly runs: readonly JournalRun[];
}

/** Reads the events in a file; none if it does not exist. @throws Error with the reason if it cannot be used */
export function readJournal(path: string): JournalEvent[] {
  const events = parseJournal(readOwnFile(path));
  if (events === null) throw new Error('it is not a journal');
  return events;
}

/** Opens the journal of a job. If it cannot be read or written, rungate warns and continues without it. */
export function openJournal(file: JournalFile, { warn, redact }: JournalTools): Journal {
  const { path, base, job } = file;
  let usable = true;
  const giveUp = (what: string, error: unknown) => {
    usable = false;
    const problem = `the journal ${path} cannot be ${what}: ${(error as Error).message}`;
    warn(
      `${problem}; rungate continues without it, and a retry loop in this job may find an ended run before it starts a new one`,
    );
  };
  let events: JournalEvent[] = [];
  try {
    events = readJournal(path);
  } catch (error) {
    giveUp('used', error);
  }
  const runs = runsOf(events).filter((run) => run.base === base);
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
      giveUp('written', error);
    }
  };
  return {
    runs,
    triggering: (key, past, body) =>
      add({
        event: 'triggering',
        key,
        base,
        job,
        past: redactReport(past, redact),
        ...(hasSecret(body) ? {} : { body }),
      }),
    created: (key, runId) => add({ event: 'created', key, runId }),
    settled: (runId) => add({ event: 'settled', runId }),
    environment: (key, step, baseUrl) => add({ event: 'environment', key, step, baseUrl }),
  };
}
