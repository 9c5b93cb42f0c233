import { isPlain, ownCopy, ownOptions } from '../own-options.ts';
import { parseSought, type SoughtArtifact } from '../subject.ts';
import { plainUrl } from './base-url.ts';
import { quoted, ReceiptError } from './error.ts';
import { readPublicKey } from './keys.ts';
import type { ReceiptResult, Statement } from './statement.ts';
import { ageOf, type Examination, examine, wholeCommit } from './verify.ts';

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

const optionNames = [
  'receipt',
  'keys',
  'commit',
  'subjects',
  'repository',
  'project',
  'process',
  'tags',
  'environment',
  'baseUrl',
  'requireDeployed',
  'maxAgeMs',
  'allowWarned',
  'now',
] as const satisfies readonly (keyof VerifyReceiptOptions)[];

function badOption(message: string, hint?: string): never {
  throw new ReceiptError('bad_option', message, hint);
}

/** Returns the receipt as a copy, since the caller may change its buffer while the checks are made. */
function bytesOf(receipt: unknown): Uint8Array {
  if (typeof receipt === 'string') return new TextEncoder().encode(receipt);
  if (receipt instanceof Uint8Array) return new Uint8Array(receipt);
  if (receipt instanceof ArrayBuffer) return new Uint8Array(receipt.slice(0));
  return badOption('receipt is neither bytes nor text', 'pass the content of the file without parsing it');
}

function checkOptions(options: VerifyReceiptOptions): void {
  for (const name of ['repository', 'project', 'process', 'environment'] as const) {
    const value: unknown = options[name];
    if (value !== undefined && (typeof value !== 'string' || value === ''))
      badOption(`${name} is not a non-empty string`, `leave ${name} out if it does not matter`);
  }
  const { process, tags, baseUrl, maxAgeMs } = options;
  if (baseUrl !== undefined && plainUrl(baseUrl) === null)
    badOption(
      'baseUrl is not an http or https URL without user name, query and fragment',
      'a receipt has the base URL without its query',
    );
  if (tags !== undefined) {
    if (
      !Array.isArray(tags) ||
      tags.length === 0 ||
      tags.some((tag) => typeof tag !== 'string' || tag === '')
    )
      badOption('tags is not a list of strings', 'leave tags out if they do not matter');
    if (process !== undefined)
      badOption('a run has either a process or tags, so one of the two cannot match');
  }
  if (maxAgeMs !== undefined && !(typeof maxAgeMs === 'number' && maxAgeMs > 0))
    badOption('maxAgeMs is not a number above 0');
  for (const name of ['allowWarned', 'requireDeployed'] as const)
    if (options[name] !== undefined && typeof options[name] !== 'boolean')
      badOption(`${name} is not a boolean`);
}

/** Returns what ties the receipt to the caller's release: the commit, images and files, or both. */
function releaseOf({ commit, subjects }: VerifyReceiptOptions) {
  if (commit === undefined && subjects === undefined)
    badOption('neither commit nor subjects was given', 'pass what you release');
  return {
    commit: commit === undefined ? undefined : commitOf(commit),
    subjects: subjects === undefined ? undefined : soughtOf(subjects),
  };
}

function soughtOf(subjects: unknown): SoughtArtifact[] {
  if (!Array.isArray(subjects) || subjects.length === 0)
    badOption('subjects is not a list of subjects', 'leave subjects out if they do not matter');
  return (subjects as unknown[]).map(
    (text) =>
      (typeof text === 'string' ? parseSought(text) : null) ??
      badOption('subjects: expected name@sha256:<64 hex digits>, or sha256:<64 hex digits>'),
  );
}

function commitOf(text: unknown): string {
  return (
    wholeCommit(text) ??
    badOption(
      'commit is not a whole commit: 40 or 64 hex digits',
      'pass the full hash, such as GITHUB_SHA or the output of git rev-parse HEAD',
    )
  );
}

function timeOf(now: unknown): number {
  const time = now instanceof Date ? now.getTime() : Number.NaN;
  return Number.isNaN(time) ? badOption('now is not a date') : time;
}

async function examineOptions(given: VerifyReceiptOptions): Promise<[Examination, now: number]> {
  // An inherited or misspelt option would leave its check out.
  if (!isPlain(given)) badOption('verifyReceipt takes one plain object: { receipt, keys, commit }');
  const names: readonly string[] = optionNames;
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined)
    badOption(`${quoted(unknown)} is not an option`, `the options are ${names.join(', ')}`);
  const options = ownOptions(given, optionNames);
  checkOptions(options);
  const bytes = bytesOf(options.receipt);
  const release = releaseOf(options);
  const now = timeOf(options.now === undefined ? new Date() : options.now);
  const texts: unknown[] = [options.keys].flat();
  if (options.keys === undefined || texts.length === 0) badOption('no key to trust was given');
  const keys = await Promise.all(texts.map(readPublicKey));
  return [await examine(bytes, ownCopy({ ...options, keys, ...release, now })), now];
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
    const [{ checks, keyId, statement }, now] = await examineOptions(options);
    const failed = checks.find(({ status }) => status === 'failed');
    if (failed !== undefined)
      throw new ReceiptError(failed.check, `the receipt was refused: ${failed.reason}`, failed.hint);
    if (statement === null || keyId === null) throw new Error('the receipt was not read');
    return { result: statement.predicate.result, keyId, ageMs: ageOf(statement, now), statement };
  } catch (error) {
    if (error instanceof ReceiptError) throw error;
    const message = 'an option cannot be read, or the runtime rejected it';
    throw new ReceiptError('bad_option', message, 'see the cause of this error', { cause: error });
  }
}
