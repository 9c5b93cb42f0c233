import type { Fields } from '../contract/types.ts';

/**
 * Returns an object of a response with all its fields, also those that the API does not describe. Its own type leaves those out,
 * so that the compiler finds a misspelt name.
 * @example
 * ```ts
 * import { createClient, fieldsOf } from 'rungate';
 *
 * const client = createClient({ apiUrl: 'https://service.example.com', token: process.env.RUNGATE_TOKEN });
 * for await (const environment of client.env.list.all()) console.log(environment.key, fieldsOf(environment).id);
 * await client.close();
 * ```
 */
export function fieldsOf(value: object | null | undefined): Readonly<Fields> {
  return { ...value };
}

/**
 * Returns fields that the API does not describe, for a request whose type leaves them out.
 * @example
 * ```ts
 * import { createClient, otherFields } from 'rungate';
 *
 * const client = createClient({ apiUrl: 'https://service.example.com', token: process.env.RUNGATE_TOKEN });
 * await client.webhooks.create({ projectId: 'shop', ...otherFields({ url: 'https://shop.example.com/hook' }) });
 * await client.close();
 * ```
 */
export function otherFields(fields: Fields): object {
  return fields;
}
