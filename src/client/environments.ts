import { env } from '../contract/env.ts';
import { idText, membersOf, repeatedName, unquoted } from '../json/text.ts';
import type { Caller, CallOptions } from './options.ts';
import { readPages } from './pages.ts';
import { mismatchError } from './schema-mismatch.ts';

/** An environment in the list; a numeric id keeps its digits. */
export interface Listed {
  readonly id: string | undefined;
  readonly key: string | undefined;
  readonly name: string | undefined;
  readonly baseUrl: string | undefined;
  /** All of its fields, with their digits. */
  readonly fields: ReadonlyMap<string, string>;
}

/** Converts the JSON text of a string or a number to plain text; undefined for anything else. */
function scalarText(json: string | undefined): string | undefined {
  if (json === undefined || !/^["\d-]/.test(json)) return undefined;
  return unquoted(json);
}

/** With a repeated field, the command could change or delete the wrong environment. */
function fieldsOf(json: string): Map<string, string> {
  const members = membersOf(json);
  const field = repeatedName(members);
  if (field === undefined) return new Map(members);
  throw mismatchError('GET /api/environments', {
    field,
    expected: 'each field once',
    received: 'two values for it',
  });
}

async function* environmentPages(caller: Caller, options: CallOptions) {
  // Few fields of each item are read, so others may be wrong.
  const unchecked = { ...options, check: false };
  for await (const page of readPages(caller, 'env.list', env['env.list'], { params: {} }, unchecked)) {
    fieldsOf(page.text);
    const items = page.itemTexts().map((item): Listed => {
      const fields = fieldsOf(item);
      const [key, name, baseUrl] = ['key', 'name', 'baseUrl'].map((field) => scalarText(fields.get(field)));
      return { id: idText(fields.get('id')) ?? undefined, key, name, baseUrl, fields };
    });
    yield { items, pass: page.pass };
  }
}

export async function* listEnvironments(caller: Caller, options: CallOptions = {}): AsyncGenerator<Listed> {
  for await (const { items } of environmentPages(caller, options)) yield* items;
}

/** How often a list that changes all the time is read for one environment. */
const mostPasses = 3;

/**
 * Yields the environments until one matches, to the end of the list, for there may be several. If none matches, a list of
 * several pages is read once more, in which each comes again: one may have moved between the pages. One that no pass over a
 * changing list has shown does not exist: others may change it all the time.
 */
export async function* searchEnvironments(
  caller: Caller,
  matches: (environment: Listed) => boolean,
  options: CallOptions = {},
): AsyncGenerator<Listed> {
  for (const again of [false, true]) {
    let pages = 0;
    let isFound = false;
    for await (const { items, pass } of environmentPages(caller, options)) {
      if (pass > mostPasses) return;
      pages += 1;
      isFound ||= items.some(matches);
      yield* items;
    }
    if (again || isFound || pages < 2) return;
  }
}
