import { openJournal as open } from '../src/ci/journal.ts';
import { readPage as page } from '../src/client/list.ts';
import { asItIs } from '../src/conceal.ts';
import { runIdOf as find } from '../src/gate/run-id.ts';
import { describe, readStatus as read } from '../src/gate/run-status.ts';

/** The readers of responses, for tests whose responses hold no secret. */
export const readStatus = (json: unknown, texts: ReadonlyMap<string, string> = new Map()) =>
  read(json, texts, asItIs);
export const describeValue = (value: unknown) => describe(value, asItIs);
export const runIdOf = (reply: unknown, location?: string, pointer?: string, request: object = {}) =>
  find(reply, JSON.stringify(reply), location, pointer, request, asItIs);
export const runIdIn = (json: string, pointer?: string) =>
  find(JSON.parse(json), json, undefined, pointer, {}, asItIs);
export const readPage = (value: unknown, name = 'the list') => page(value, name, asItIs);
export const openJournal = (path: string, now: Date, tell: (problem: string) => void) =>
  open(path, now, tell, asItIs);
