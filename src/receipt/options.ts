import * as z from 'zod/mini';
import { isPlain, ownCopy } from '../own-options.ts';
import { parseUrl } from '../parse-url.ts';
import { parseSought, type SoughtArtifact } from '../subject.ts';
import { quoted, ReceiptError } from './error.ts';
import { readBy } from './json.ts';
import { type Key, readPublicKey } from './keys.ts';
import { wholeCommit } from './statement.ts';

/** A receipt, the keys to trust, and what the receipt must say. A fact that is left out is not checked. */
export interface VerifyReceiptOptions {
  /** The file as it is: bytes or text. Not parsed, since a parser would hide a duplicate key. */
  receipt: Uint8Array | ArrayBuffer | string;
  /** The trusted public keys (PEM, Ed25519); any of them may have signed. */
  keys: string | readonly string[];
  /** The whole commit, 40 or 64 hex digits: an abbreviation could name another commit. Required without `subjects`. */
  commit?: string | undefined;
  /** Images and files that must have been tested, as `name@sha256:hex`, or `sha256:hex` for any name. Required without `commit`. */
  subjects?: readonly string[] | undefined;
  /** `owner/name`. */
  repository?: string | undefined;
  /** The project's slug. */
  project?: string | undefined;
  /** The process's slug. */
  process?: string | undefined;
  /** Exactly the tags of the run, in any order. */
  tags?: readonly string[] | undefined;
  /** The key of the environment. */
  environment?: string | undefined;
  /** The URL of the preview deployment, in any spelling, without a query, which a receipt does not contain. */
  baseUrl?: string | undefined;
  /** Whether the gate must have checked which build was deployed; default false. */
  requireDeployed?: boolean | undefined;
  /** The maximum time since the runs ended, in milliseconds; default: any. */
  maxAgeMs?: number | undefined;
  /** Whether `WARNED` is accepted, which a gate's policy lets through; default false. */
  allowWarned?: boolean | undefined;
  /** The time to compare with; default now. A receipt may be 60 s ahead, since clocks differ. */
  now?: Date | undefined;
}

/** The facts that a receipt must have, in the spelling of receipts. */
export interface Expected extends Omit<VerifyReceiptOptions, 'receipt' | 'keys' | 'subjects' | 'now'> {
  keys: readonly Key[];
  subjects?: readonly SoughtArtifact[] | undefined;
  /** Milliseconds since the epoch. */
  now: number;
}

/**
 * Returns one text for all spellings of a URL: `https://shop.example.com/` for `HTTPS://Shop.example.com:443`. Null for anything
 * but an http or https URL without a user name, a query and a fragment.
 */
export function plainUrl(text: string): string | null {
  // Parsers disagree on a backslash, and URL parsers ignore line breaks.
  if (!/^https?:\/\/[^?#\\\s]+$/i.test(text.trim())) return null;
  const url = parseUrl(text.trim());
  return url?.username === '' && url.password === '' ? url.href : null;
}

/** Noun phrases for the values of options that are not any text. */
export const wanted = {
  commit: 'a full commit hash of 40 or 64 hex digits, such as the output of git rev-parse HEAD',
  subject: 'name@sha256:<64 hex digits>, or sha256:<64 hex digits> for any name',
  baseUrl: 'an http or https URL without user name, query and fragment',
} as const;

const filled = z.string('expected a non-empty string').check(z.minLength(1, 'expected a non-empty string'));
const flag = z.boolean('expected a boolean');
const list = <Item extends z.ZodMiniType>(item: Item, what: string) =>
  z.array(item, `expected a list of ${what}`).check(z.minLength(1, `expected a list of ${what}`));
const positive = z.number('expected a number above 0').check(z.positive('expected a number above 0'));

const schema = z
  .strictObject({
    receipt: z.union(
      [z.string(), z.instanceof(Uint8Array), z.instanceof(ArrayBuffer)],
      'expected the content of the file as bytes or text, without parsing it',
    ),
    keys: z.union([z.string(), list(z.string(), 'keys')], 'expected the trusted public keys as PEM'),
    commit: z.optional(readBy(wholeCommit, `expected ${wanted.commit}`)),
    subjects: z.optional(list(readBy(parseSought, `expected ${wanted.subject}`), 'subjects')),
    repository: z.optional(filled),
    project: z.optional(filled),
    process: z.optional(filled),
    tags: z.optional(list(filled, 'tags')),
    environment: z.optional(filled),
    baseUrl: z.optional(readBy(plainUrl, `expected ${wanted.baseUrl}`)),
    requireDeployed: z.optional(flag),
    maxAgeMs: z.optional(positive),
    allowWarned: z.optional(flag),
    now: z.optional(z.date('expected a date')),
  })
  .check(
    z.refine(
      ({ commit, subjects }) => commit !== undefined || subjects !== undefined,
      'neither commit nor subjects was given',
    ),
    z.refine(
      ({ process, tags }) => process === undefined || tags === undefined,
      'a run has either a process or tags, so one of the two cannot match',
    ),
  );

function badOption(message: string): never {
  throw new ReceiptError('bad_option', message);
}

/** Returns the receipt and what it must say, without a prototype: an inherited option would leave its check out. @throws ReceiptError */
export function readOptions(given: unknown): { bytes: Uint8Array; expected: Expected } {
  if (!isPlain(given)) badOption('verifyReceipt takes one plain object: { receipt, keys, commit }');
  const { data, error } = schema.safeParse(ownCopy(given));
  if (data === undefined) {
    const [issue] = error.issues;
    const { path = [], message = '' } = issue ?? {};
    if (issue?.code === 'unrecognized_keys')
      badOption(
        `${quoted(issue.keys[0] ?? '')} is not an option; the options are ${Object.keys(schema.shape).join(', ')}`,
      );
    return badOption(path.length === 0 ? message : `${path.join('.')}: ${message}`);
  }
  const { receipt, keys, now, ...facts } = ownCopy(data);
  const time = (now ?? new Date()).getTime();
  return {
    bytes: typeof receipt === 'string' ? Buffer.from(receipt) : new Uint8Array(receipt),
    expected: ownCopy({ ...facts, keys: [keys].flat().map(readPublicKey), now: time }),
  };
}
