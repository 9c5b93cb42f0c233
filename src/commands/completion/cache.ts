import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { Io } from '../../host/io.ts';
import { redactSecrets } from '../../redact.ts';
import { profilesPath } from '../../settings/locate.ts';

/** Who presses TAB twice, or types on and presses it again, need not wait twice. */
const keptMs = 30_000;
/** How long a service that did not answer is not asked again. */
const failedMs = 5_000;

/** What a list's items are told apart by, and nothing else of them: no address and no value is kept. */
const keptFields = ['id', 'key', 'name', 'title', 'customer', 'status'];

type Item = Readonly<Record<string, unknown>>;
interface Entry {
  readonly until: number;
  readonly items: readonly Item[];
}
type Entries = Readonly<Record<string, Entry>>;

/** The entries that still count. A file that cannot be read as one has none. */
function current(text: string | undefined, now: number): Entries {
  try {
    const entries = Object.entries(JSON.parse(text ?? '') as Entries);
    // Nobody keeps anything for longer, unless the clock was changed.
    return Object.fromEntries(
      entries.filter(([, { until, items }]) => until > now && until <= now + keptMs && Array.isArray(items)),
    );
  } catch {
    return {};
  }
}

/** The fields that are kept, without any credential that the service may have sent back in them. */
function essence(item: unknown, secrets: readonly string[]): Item {
  if (typeof item !== 'object' || item === null) return {};
  const fields = keptFields.map((name): [string, unknown] => [name, (item as Item)[name]]);
  return Object.fromEntries(
    fields.filter(([, value]) =>
      typeof value === 'string' ? redactSecrets(value, secrets) === value : typeof value === 'number',
    ),
  );
}

/**
 * The items that `ask` brings, or those it brought a moment ago, kept in a file beside the profiles that its owner alone
 * may read.
 * @param who what the answer depends on; only a short hash of it is kept
 * @throws what `ask` throws
 */
export async function cached(
  io: Io,
  who: string,
  credentials: readonly (string | undefined)[],
  ask: () => Promise<readonly unknown[]>,
): Promise<Item[]> {
  const secrets = credentials.filter((one) => one !== undefined);
  const profiles = profilesPath(io);
  const file = profiles === null ? null : io.stateFile(join(dirname(profiles), 'completion.json'));
  const key = createHash('sha256').update(who).digest('hex').slice(0, 16);
  const keep = async (items: readonly Item[], forMs: number) => {
    const now = io.clock.now();
    try {
      const format = { parse: (text: string) => current(text, now), write: JSON.stringify };
      await file?.change(format, (entries) => ({ ...entries, [key]: { until: now + forMs, items } }));
    } catch {
      // A folder that cannot be written to costs time at the next TAB, and nothing else.
    }
  };
  let known: Entry | undefined;
  try {
    known = current(file?.read()?.text, io.clock.now())[key];
  } catch {
    // The same.
  }
  if (known !== undefined) return [...known.items];
  try {
    const items = (await ask()).map((item) => essence(item, secrets));
    await keep(items, keptMs);
    return items;
  } catch (error) {
    await keep([], failedMs);
    throw error;
  }
}
