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

async function* environmentPages(caller: Caller, options: CallOptions): AsyncGenerator<Listed[]> {
  // Few fields of each item are read, so others may be wrong.
  const unchecked = { ...options, check: false };
  for await (const page of readPages(caller, 'env.list', env['env.list'], { params: {} }, unchecked)) {
    fieldsOf(page.text);
    yield page.itemTexts().map((item) => {
      const fields = fieldsOf(item);
      const [key, name, baseUrl] = ['key', 'name', 'baseUrl'].map((field) => scalarText(fields.get(field)));
      return { id: idText(fields.get('id')) ?? undefined, key, name, baseUrl, fields };
    });
  }
}

export async function* listEnvironments(caller: Caller, options: CallOptions = {}): AsyncGenerator<Listed> {
  for await (const page of environmentPages(caller, options)) yield* page;
}

/**
 * Yields the environments, and once more if none matches: one of several pages may have moved between them. A consumer has to
 * expect each environment twice.
 */
export async function* searchEnvironments(
  caller: Caller,
  matches: (environment: Listed) => boolean,
  options: CallOptions = {},
): AsyncGenerator<Listed> {
  for (const again of [false, true]) {
    let pages = 0;
    let isFound = false;
    for await (const page of environmentPages(caller, options)) {
      pages += 1;
      isFound ||= page.some(matches);
      yield* page;
    }
    if (again || isFound || pages < 2) return;
  }
}
