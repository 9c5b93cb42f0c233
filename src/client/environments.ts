import { env } from '../contract/env.ts';
import { idText, itemTexts, membersOf, repeatedName, unquoted } from '../json/text.ts';
import type { Caller, CallOptions } from './options.ts';
import { type Convert, readPages } from './pages.ts';
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

export async function* listEnvironments(caller: Caller, options: CallOptions = {}): AsyncGenerator<Listed> {
  /** With a repeated field, the command could change or delete the wrong environment. */
  const fieldsOf = (json: string) => {
    const members = membersOf(json);
    const field = repeatedName(members);
    if (field === undefined) return new Map(members);
    throw mismatchError('GET /api/environments', {
      field,
      expected: 'each field once',
      received: 'two values for it',
    });
  };
  const convert: Convert<Map<string, string>[]> = (text, page) => {
    fieldsOf(text);
    return itemTexts(text, page).map(fieldsOf);
  };
  // Few fields of each item are read, so others may be wrong.
  const pages = readPages(caller, 'env.list', env['env.list'], { params: {} }, convert, {
    ...options,
    check: false,
  });
  for await (const { converted } of pages) {
    for (const fields of converted) {
      const [key, name, baseUrl] = ['key', 'name', 'baseUrl'].map((field) => scalarText(fields.get(field)));
      yield { id: idText(fields.get('id')) ?? undefined, key, name, baseUrl, fields };
    }
  }
}
