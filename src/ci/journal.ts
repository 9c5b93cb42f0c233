import { renameSync } from 'node:fs';
import type { KeyStep, RunJournal } from '../gate/start.ts';
import type { Redact } from '../redact.ts';
import { appendOwnFile, readOwnFile } from './own-file.ts';

/** One line of a journal. Lines are only ever added, so that processes can write at once and none can tear a file. */
export type JournalEvent =
  | { event: 'triggering'; key: string; round: number; body?: unknown }
  | { event: 'created'; key: string; runId: string; appUrl: string | null }
  | { event: 'settled'; runId: string };

/** A run that the journal knows of. */
export interface JournalRun {
  readonly key: string;
  /** How many runs were settled when this one was started; 0 for the first. */
  readonly round: number;
  /** The job is done with it: it has seen its end, or only had to start it. */
  settled: boolean;
  /** Null while the create has no response. */
  runId: string | null;
  /** What was sent, so that a create without a response can be sent again; null if the journal does not say. */
  readonly body: unknown;
}

function isEvent(value: unknown): value is JournalEvent {
  if (typeof value !== 'object' || value === null) return false;
  const { event, key, round, runId } = value as Record<string, unknown>;
  if (event === 'triggering') return typeof key === 'string' && Number.isInteger(round);
  if (event === 'created') return typeof key === 'string' && typeof runId === 'string';
  return event === 'settled' && typeof runId === 'string';
}

const beginning = '{"event":"';

/** The events of a journal's text, or null when it is not one. */
export function parseJournal(text: string): JournalEvent[] | null {
  const events: JournalEvent[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    let event: unknown;
    try {
      event = JSON.parse(line);
    } catch {
      // kill -9 may cut a line off at any byte, and leaves the other lines intact.
      if (beginning.startsWith(line.slice(0, beginning.length))) continue;
      return null;
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
      const { key, round, body = null } = entry;
      if (!byKey.has(key)) byKey.set(key, { key, round, runId: null, body, settled: false });
    } else if (entry.event === 'created') {
      const run = byKey.get(entry.key);
      if (run !== undefined) run.runId = entry.runId;
    } else {
      for (const run of byKey.values()) if (run.runId === entry.runId) run.settled = true;
    }
  }
  return [...byKey.values()];
}

export interface Journal extends RunJournal {
  /** What was started before, by this process or another one. */
  readonly runs: readonly JournalRun[];
}

/**
 * Opens the journal of a job. What cannot be read is set aside and said, never silently started anew; a journal that
 * cannot be written is said too, and the gate goes on without it.
 * @param redact tells what has a secret in it, which is not written
 */
export function openJournal(
  path: string,
  now: Date,
  tell: (problem: string) => void,
  redact: Redact,
): Journal {
  let usable = true;
  const give = (problem: string) => {
    usable = false;
    tell(`${problem}; a retry loop in this job may find a run again that has ended, and starts another then`);
  };
  let events: JournalEvent[] = [];
  try {
    const read = parseJournal(readOwnFile(path) ?? '');
    if (read === null) {
      const aside = `${path}.corrupt-${now.getTime()}`;
      renameSync(path, aside);
      tell(`the journal ${path} could not be read, and is kept as ${aside}`);
    } else {
      events = read;
    }
  } catch (error) {
    give(`the journal ${path} cannot be used: ${(error as Error).message}`);
  }
  const runs = runsOf(events);
  const round = runs.reduce((next, run) => (run.settled ? Math.max(next, run.round + 1) : next), 0);
  const open = runs.filter((run) => !run.settled).at(-1);

  const hasSecret = (value: unknown) => {
    const text = JSON.stringify(value) ?? '';
    return redact(text) !== text;
  };
  const add = (event: JournalEvent) => {
    // What is left out is found again by its key, as it is if the process is killed at this moment.
    if (!usable || hasSecret(event)) return;
    try {
      // A line break before it, so that a line that was cut off does not spoil this one.
      appendOwnFile(path, `\n${JSON.stringify(event)}\n`);
    } catch (error) {
      give(`the journal ${path} cannot be written: ${(error as Error).message}`);
    }
  };
  return {
    runs,
    triggering({ key }: KeyStep, body) {
      const known = runs.find((run) => run.key === key);
      add({
        event: 'triggering',
        key,
        round: known?.round ?? (open === undefined ? round : open.round + 1),
        ...(hasSecret(body) ? {} : { body }),
      });
    },
    created: ({ key }, { runId, appUrl }) => add({ event: 'created', key, runId, appUrl }),
    settled: (runId) => add({ event: 'settled', runId }),
  };
}
