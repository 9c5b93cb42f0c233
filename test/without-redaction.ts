import { type JournalFile, openJournal as open } from '../src/ci/journal.ts';
import { readPage as page } from '../src/client/list.ts';
import { runIdOf as find } from '../src/gate/run-id.ts';
import { describe, readStatus as read } from '../src/gate/run-status.ts';
import { membersOf } from '../src/json/text.ts';
import { redactNothing } from '../src/redact.ts';

/** Response parsers without redaction, for tests with responses that contain no secrets. */
export const readStatus = (json: unknown) =>
  read(json, new Map(membersOf(JSON.stringify(json) ?? '')), redactNothing);
export const describeValue = (value: unknown) => describe(value, redactNothing);
export const runIdOf = (response: unknown, location?: string, pointer?: string, request: object = {}) =>
  find(response, JSON.stringify(response), location, pointer, request, redactNothing);
export const runIdIn = (json: string, pointer?: string) =>
  find(JSON.parse(json), json, undefined, pointer, {}, redactNothing);
export const readPage = (value: unknown) => page(value, redactNothing);
export const openJournal = (file: JournalFile, now: Date, tell: (problem: string) => void) =>
  open(file, now, tell, redactNothing);
