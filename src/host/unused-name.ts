import { basename, dirname, join } from 'node:path';

/** What nobody else has, as part of a name. */
export function unique(): string {
  // Loaded when something is written, not at every start: it is the largest of Node's own modules.
  return process.getBuiltinModule('node:crypto').randomUUID();
}

/** The name of a file beside `place` that is not there yet, for what is being written. */
export function draftName(place: string): string {
  return join(dirname(place), `.${basename(place).slice(0, 32)}.${unique()}`);
}
