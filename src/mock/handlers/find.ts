import { MockError } from '../error.ts';

/** What was looked up, or 404: what another tenant has is as unknown as what nobody has. */
export function known<T>(item: T | undefined, what: string, id: string): T {
  if (item !== undefined) return item;
  throw new MockError(404, `${what} not found`, `there is no ${what.toLowerCase()} ${JSON.stringify(id)}`);
}
