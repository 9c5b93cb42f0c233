import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Io } from '../../host/io.ts';
import { redactSecrets } from '../../redact.ts';
import { profilesPath } from '../../settings/locate.ts';

/** The time to cache a response, so that pressing TAB again is fast. */
const cachedMs = 30_000;
/** The time to cache a failure. */
const failedMs = 5_000;

/** The fields to cache: only those that identify an item, never a URL or a value. */
const cachedFields = ['id', 'key', 'name', 'title', 'customer', 'status'];

type Item = Readonly<Record<string, unknown>>;
interface Entry {
  readonly until: number;
  readonly items: readonly Item[];
}
type Entries = Readonly<Record<string, Entry>>;

/** Returns the entries that have not expired; none if the file is invalid. */
function current(text: string | undefined, now: number): Entries {
  try {
    const entries = Object.entries(JSON.parse(text ?? '') as Entries);
    // A longer expiry means that the clock was changed.
    return Object.fromEntries(
      entries.filter(
        ([, { until, items }]) => until > now && until <= now + cachedMs && Array.isArray(items),
      ),
    );
  } catch {
    return {};
  }
}

/** Returns the fields to cache, without those in which the service sent back a credential. */
function essence(item: unknown, secrets: readonly string[]): Item {
  if (typeof item !== 'object' || item === null) return {};
  const fields = cachedFields.map((name): [string, unknown] => [name, (item as Item)[name]]);
  return Object.fromEntries(
    fields.filter(([, value]) =>
      typeof value === 'string' ? redactSecrets(value, secrets) === value : typeof value === 'number',
    ),
  );
}

/**
 * Returns the items from `fetch`, or from the cache: a file beside the profiles that only its owner may read.
 * @param cacheKey everything that the response depends on; only a short hash of it is stored
 * @throws the error of `fetch`
 */
export async function cached(
  io: Io,
  cacheKey: string,
  credentials: readonly (string | undefined)[],
  fetch: () => Promise<readonly unknown[]>,
): Promise<Item[]> {
  const secrets = credentials.filter((one) => one !== undefined);
  const profiles = profilesPath(io);
  const file = profiles === null ? null : io.stateFile(join(dirname(profiles), 'completion.json'));
  const key = createHash('sha256').update(cacheKey).digest('hex').slice(0, 16);
  const store = async (items: readonly Item[], forMs: number) => {
    const now = io.clock.now();
    try {
      const format = { parse: (text: string) => current(text, now), write: JSON.stringify };
      await file?.change(format, (entries) => ({ ...entries, [key]: { until: now + forMs, items } }));
    } catch {
      // Without a cache, the next TAB is only slower.
    }
  };
  let known: Entry | undefined;
  try {
    known = current(file?.read()?.text, io.clock.now())[key];
  } catch {
    // As above.
  }
  if (known !== undefined) return [...known.items];
  try {
    const items = (await fetch()).map((item) => essence(item, secrets));
    await store(items, cachedMs);
    return items;
  } catch (error) {
    await store([], failedMs);
    throw error;
  }
}
