import { createHmac } from 'node:crypto';
import { bodyCandidates } from './body.ts';
import { type Candidate, type CauseId, causes } from './causes.ts';

/** Yields keys that verification did not use: the webhook's secrets if there is a tenant secret, and variants of all. */
function* keyCandidates({ secrets, tenantSecret }: DiagnoseInput): Generator<Candidate<string>> {
  if (tenantSecret !== undefined) {
    for (const secret of secrets) yield ['tenant_secret', secret];
  }
  for (const key of tenantSecret === undefined ? secrets : [tenantSecret, ...secrets]) {
    yield ['secret_white_space', key.trim()];
    yield ['secret_quoted', /^(["'`])(.*)\1$/s.exec(key.trim())?.[2] ?? key];
    const parts = key.split(/\\n|[,;\s]+/).filter((part) => part !== '');
    for (const part of parts) yield ['secret_list', part];
  }
}

/** Yields the spellings of an instant in UTC: what remains if a program parses a timestamp and formats it again. */
function* timestampCandidates(text: string): Generator<Candidate<string>> {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|[+-]00:00)$/.exec(text);
  if (match === null) return;
  const [, seconds = '', fraction = ''] = match;
  for (const digits of new Set([fraction.length, 0, 3, 6, 7, 9])) {
    const time = digits === 0 ? seconds : `${seconds}.${fraction.padEnd(digits, '0').slice(0, digits)}`;
    for (const zone of ['Z', '+00:00']) yield ['timestamp_rewritten', `${time}${zone}`];
  }
}

/** Why a signature does not match, and what to do about it. `id` is stable. */
export interface FoundCause {
  id: CauseId;
  sentence: string;
  remedy: string;
}

/** A delivery with well-formed headers that none of its secrets signed. */
export interface DiagnoseInput {
  body: Uint8Array;
  timestamp: string;
  signature: string;
  /** The webhook's secrets. */
  secrets: readonly string[];
  tenantSecret?: string | undefined;
}

/** The largest body to diagnose: it is held in memory and hashed about a hundred times. */
export const maxDiagnosedBytes = 10 * 1024 * 1024;

function search(input: DiagnoseInput): CauseId | null {
  const { body, timestamp, signature, secrets, tenantSecret } = input;
  const configured = tenantSecret === undefined ? secrets : [tenantSecret];
  const isSigned = (keys: readonly string[], time: string, content: Uint8Array) =>
    keys.some((key) => {
      const mac = createHmac('sha256', key).update(`${time}.`).update(content).digest('hex');
      return `sha256=${mac}` === signature.toLowerCase();
    });
  for (const [id, key] of keyCandidates(input)) if (isSigned([key], timestamp, body)) return id;
  for (const [id, content] of bodyCandidates(body)) if (isSigned(configured, timestamp, content)) return id;
  for (const [id, time] of timestampCandidates(timestamp)) if (isSigned(configured, time, body)) return id;
  return null;
}

/**
 * Returns the mistake that makes the signature match once it is undone, or an empty list. The match proves the result; if
 * several causes lead to the same bytes, returns the likeliest.
 */
export function diagnose(input: DiagnoseInput): FoundCause[] {
  const id = input.body.length > maxDiagnosedBytes ? null : search(input);
  if (id === null) return [];
  const [sentence, remedy] = causes[id];
  return [{ id, sentence, remedy }];
}
