import * as z from 'zod/mini';
import { isPlain, ownCopy } from '../own-options.ts';
import { parseSought } from '../subject.ts';
import { quoted, ReceiptError } from './error.ts';
import { readPublicKey } from './keys.ts';
import { type ReceiptResult, type Statement, wholeCommit } from './statement.ts';
import { ageOf, type Examination, examine, plainUrl } from './verify.ts';

export type { Artifact } from '../subject.ts';
export type { CheckName, ReceiptErrorCode } from './error.ts';
export { ReceiptError } from './error.ts';
export type {
  ReceiptDeployment,
  ReceiptFacts,
  ReceiptResult,
  ReceiptRun,
  ResourceDescriptor,
  Statement,
  TestedCommit,
} from './statement.ts';

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

/** An authentic receipt with the expected facts. */
export interface VerifiedReceipt {
  result: ReceiptResult;
  /** The SHA-256 of the trusted key that signed, in DER (SPKI), in hex. */
  keyId: string;
  /** Milliseconds since the runs ended; negative if the receipt's clock is ahead. */
  ageMs: number;
  statement: Statement;
}

const filled = z.string('expected a non-empty string').check(z.minLength(1, 'expected a non-empty string'));
const list = <Item extends z.ZodMiniType>(item: Item, what: string) =>
  z.array(item, `expected a list of ${what}`).check(z.minLength(1, `expected a list of ${what}`));
const custom = (is: (value: unknown) => boolean, expected: string) => z.custom<string>(is, expected);

const schema = z
  .strictObject({
    receipt: z.union(
      [z.string(), z.instanceof(Uint8Array), z.instanceof(ArrayBuffer)],
      'expected the content of the file as bytes or text, without parsing it',
    ),
    keys: z.union([z.string(), list(z.string(), 'keys')], 'expected the trusted public keys as PEM'),
    commit: z.optional(
      custom(
        (text) => wholeCommit(text) !== null,
        'expected a whole commit of 40 or 64 hex digits, such as the output of git rev-parse HEAD',
      ),
    ),
    subjects: z.optional(
      list(
        custom(
          (text) => typeof text === 'string' && parseSought(text) !== null,
          'expected name@sha256:<64 hex digits>, or sha256:<64 hex digits>',
        ),
        'subjects',
      ),
    ),
    repository: z.optional(filled),
    project: z.optional(filled),
    process: z.optional(filled),
    tags: z.optional(list(filled, 'tags')),
    environment: z.optional(filled),
    baseUrl: z.optional(
      custom(
        (text) => plainUrl(text) !== null,
        'expected an http or https URL without user name, query and fragment',
      ),
    ),
    requireDeployed: z.optional(z.boolean('expected a boolean')),
    maxAgeMs: z.optional(
      z.number('expected a number above 0').check(z.positive('expected a number above 0')),
    ),
    allowWarned: z.optional(z.boolean('expected a boolean')),
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

/** Returns the options without a prototype: an inherited or misspelt option would leave its check out. */
function readOptions(given: unknown): VerifyReceiptOptions {
  if (!isPlain(given)) badOption('verifyReceipt takes one plain object: { receipt, keys, commit }');
  const { data, error } = schema.safeParse(ownCopy(given));
  if (data !== undefined) return ownCopy(data as VerifyReceiptOptions);
  const [issue] = error.issues;
  if (issue?.code === 'unrecognized_keys')
    badOption(
      `${quoted(issue.keys[0] ?? '')} is not an option; the options are ${Object.keys(schema.shape).join(', ')}`,
    );
  const place = issue?.path.join('.') ?? '';
  return badOption(place === '' ? (issue?.message ?? '') : `${place}: ${issue?.message}`);
}

function examineOptions(given: VerifyReceiptOptions): [Examination, now: number] {
  const { receipt, keys, commit, subjects, now: time, ...facts } = readOptions(given);
  const now = (time ?? new Date()).getTime();
  const expected = {
    ...facts,
    keys: [keys].flat().map(readPublicKey),
    commit: wholeCommit(commit) ?? undefined,
    subjects: subjects?.flatMap((text) => parseSought(text) ?? []),
    now,
  };
  const bytes =
    typeof receipt === 'string' ? Buffer.from(receipt) : new Uint8Array(receipt as ArrayBufferLike);
  return [examine(bytes, ownCopy(expected)), now];
}

/**
 * Verifies a receipt: a trusted key signed it, the runs passed, and it is for this commit, or for these images and files.
 * Makes the checks in the order of
 * their names in `CheckName`, and trusts nothing in the receipt before its signature is verified.
 * @throws ReceiptError, and no other error; `code` names the first check that failed
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs';
 * import { verifyReceipt } from 'rungate/receipt';
 *
 * const { result } = await verifyReceipt({
 *   receipt: readFileSync('receipt.json'),
 *   keys: readFileSync('receipt.pub', 'utf8'),
 *   commit: '3c1d9a7f0b2e4c6a8d1f3b5e7a9c0d2e4f6a8b1c',
 * });
 * console.log(result); // PASSED
 * ```
 */
export async function verifyReceipt(options: VerifyReceiptOptions): Promise<VerifiedReceipt> {
  try {
    const [{ checks, keyId, statement }, now] = examineOptions(options);
    const failed = checks.find(({ status }) => status === 'failed');
    if (failed !== undefined)
      throw new ReceiptError(failed.check, `the receipt was refused: ${failed.reason}`, failed.hint);
    if (statement === null || keyId === null) throw new Error('the receipt was not read');
    return {
      result: statement.predicate.result,
      keyId,
      ageMs: ageOf(statement, now),
      statement: structuredClone(statement),
    };
  } catch (error) {
    if (error instanceof ReceiptError) throw error;
    const message = 'an option cannot be read, or the runtime rejected it';
    throw new ReceiptError('bad_option', message, 'see the cause of this error', { cause: error });
  }
}
