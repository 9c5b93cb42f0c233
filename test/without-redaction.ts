import { type JournalFile, openJournal as open } from '../src/ci/journal.ts';
import { readPage as page } from '../src/client/list.ts';
import { runIdOf as find } from '../src/gate/run-id.ts';
import { appUrlOf as addressIn, readStatus as read } from '../src/gate/run-status.ts';
import { parseBody } from '../src/json/text.ts';
import { nameInCommands } from '../src/options/spelling.ts';
import { redactNothing } from '../src/redact.ts';

/** Response parsers without redaction, for tests with responses that contain no secrets. */
export const readStatus = (json: unknown) => read(json);
export const appUrlOf = (response: unknown) => addressIn(parseBody(JSON.stringify(response)));
export const runIdOf = (response: unknown, location?: string, pointer?: string, request: object = {}) =>
  find(
    {
      value: response,
      text: JSON.stringify(response),
      headers: location === undefined ? {} : { location },
      redact: redactNothing,
    },
    pointer,
    request,
    nameInCommands,
  );
export const runIdIn = (json: string, pointer?: string) =>
  find(
    { value: JSON.parse(json), text: json, headers: {}, redact: redactNothing },
    pointer,
    {},
    nameInCommands,
  );
export const readPage = (value: unknown) => page(value);
export const openJournal = (file: JournalFile, warn: (problem: string) => void) =>
  open(file, { warn, redact: redactNothing });
