import type { Caller, CallOptions } from '../client/caller.ts';
import { type Listed, listEnvironments, searchEnvironments } from '../client/environments.ts';
import { readPages } from '../client/pages.ts';
import type { Clock } from '../clock.ts';
import { env } from '../contract/env.ts';
import { HttpError, RungateError, UnexpectedResponseError } from '../errors.ts';
import { surelyRefused } from '../gate/failed-read.ts';
import { idText, type MemberText, membersOf, objectText, textAt, unquoted } from '../json/text.ts';
import { type Variable, variableOf } from './copy.ts';
import { createdAt, isOwn } from './mark.ts';

/** Within this time, a service commits a request whose response was lost, and its list shows what was created. */
export const commitMs = 30_000;
export const lookEveryMs = 2_000;
/** How often a list is read at least until an environment counts as missing. */
const leastReads = 3;
/** Another process of the job creates the same environment at the same time. */
const duplicateMs = 10_000;

export interface Tools {
  caller: Caller;
  clock: Clock;
  /** Ends the waits. */
  signal: AbortSignal;
}

/** Whether the service created nothing. */
export const wasRefused = (error: unknown): boolean => surelyRefused(error) || mayBeDuplicate(error);
/** Another process of the job may have created it just before. */
const mayBeDuplicate = (error: unknown) =>
  error instanceof HttpError && [400, 409, 422].includes(error.status);

/** A rate limit delays what a gate needs, as it delays its run: only the timeout of the gate ends the wait. */
export const patient = { limitTimeoutMs: Number.POSITIVE_INFINITY };

/** Returns the environments with a key; several if the service does not keep keys unique. */
export async function environmentsWithKey(
  key: string,
  caller: Caller,
  options: CallOptions,
): Promise<Listed[]> {
  const found: Listed[] = [];
  const matches = (environment: Listed) => environment.key === key;
  for await (const environment of searchEnvironments(caller, matches, options))
    if (matches(environment)) found.push(environment);
  return found;
}

/**
 * Sends a request that creates something, once. If it fails, it looks for what it may have created: for up to 30 s if the service
 * may have acted on it. Returns the response, or what it found.
 * @throws the error of the request, if nothing is found
 */
async function createOnce<Response, Found>(
  send: () => Promise<Response>,
  find: () => Promise<Found | undefined>,
  { clock, signal }: Tools,
): Promise<{ response: Response } | { found: Found }> {
  try {
    return { response: await send() };
  } catch (error) {
    if (!(error instanceof RungateError) || signal.aborted) throw error;
    const lookFor = mayBeDuplicate(error) ? duplicateMs : surelyRefused(error) ? 0 : commitMs;
    const end = clock.monotonic() + lookFor;
    for (;;) {
      const found = await find().catch(() => undefined);
      if (found !== undefined) return { found };
      if (signal.aborted || clock.monotonic() >= end) throw error;
      await clock.sleep(Math.min(lookEveryMs, Math.max(0, end - clock.monotonic())), signal);
    }
  }
}

/**
 * Creates an environment, and returns its id if that is known. The request cannot be repeated: the API has no idempotency key
 * for it.
 */
export async function createEnvironment(
  key: string,
  baseUrl: string,
  fields: readonly MemberText[],
  tools: Tools,
): Promise<string | undefined> {
  const { caller, clock, signal } = tools;
  const input = { params: {}, json: objectText(fields) };
  // A stop ends a wait, but not the request: its response says whether there is something to delete.
  const onRetry = (error: RungateError, waitMs: number) =>
    clock.sleep(waitMs, signal).catch(() => {
      throw error;
    });
  const options = { ...patient, pace: true, onRetry };
  const send = () => caller.exchange('env.create', env['env.create'], input, options);
  const find = async () =>
    (await environmentsWithKey(key, caller, { signal })).find((one) => isOwn(one, baseUrl));
  const created = await createOnce(send, find, tools);
  if ('found' in created) return created.found.id;
  const { isJson, text } = created.response;
  const [given, id] = ['key', 'id'].map((field) => textAt(isJson ? text : '', [field]));
  if (given === undefined || unquoted(given) === key) return idText(id) ?? undefined;
  throw new UnexpectedResponseError(`the service gave the environment the key ${given}, not ${key}`, {
    field: 'key',
    expected: key,
    received: given,
    hint: 'delete it: rungate deletes only environments whose key it chose',
  });
}

export async function variablesOf(
  id: string,
  { caller, signal }: Pick<Tools, 'caller' | 'signal'>,
): Promise<Variable[]> {
  const input = { params: { id } };
  const variables: Variable[] = [];
  const options = { ...patient, signal };
  for await (const page of readPages(caller, 'env.vars.list', env['env.vars.list'], input, options))
    variables.push(...page.itemTexts().map((item) => variableOf(membersOf(item))));
  return variables;
}

export async function createVariable(id: string, { name, fields }: Variable, tools: Tools): Promise<void> {
  const { caller, signal } = tools;
  const input = { params: { id }, json: objectText(fields) };
  const options = { ...patient, signal, pace: true };
  const send = () => caller.exchange('env.vars.create', env['env.vars.create'], input, options);
  const find = async () => (await variablesOf(id, tools)).find((variable) => variable.name === name);
  await createOnce(send, find, tools);
}

/** @throws UnexpectedResponseError if the service does not list it */
export function idOf({ id }: Listed): string {
  if (id !== undefined) return id;
  const facts = { field: 'id', expected: 'an id', received: 'none' };
  throw new UnexpectedResponseError('the service does not list its id', facts);
}

/**
 * Deletes an environment that the list shows. If the service does not clearly confirm it, the list is read once.
 * @throws RungateError or the signal's reason
 */
export async function deleteEnvironment(
  environment: Listed,
  caller: Caller,
  options: CallOptions,
): Promise<void> {
  const id = idOf(environment);
  let refusal: RungateError;
  try {
    const { isJson } = await caller.exchange('env.delete', env['env.delete'], { params: { id } }, options);
    if (isJson) return;
    const facts = { field: '', expected: 'JSON', received: 'text' };
    refusal = new UnexpectedResponseError('the response is not JSON, and the list still shows it', facts);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    // Another job of this run may have deleted it.
    if (error.status === 404 && /^\s*\{/.test(error.body ?? '')) return;
    refusal = error;
  }
  const listed = await environmentsWithKey(environment.key ?? '', caller, options);
  if (listed.some((one) => one.id === id)) throw refusal;
}

/** The result of a deletion. `foreign`: one with that key exists, but rungate did not create it for this deployment. */
export type Deletion = 'deleted' | 'missing' | 'foreign';

/**
 * Deletes the environments with a key that rungate created for a deployment, as the list shows them just before; it may not
 * show them yet.
 * @throws RungateError or the signal's reason
 */
export async function deleteOwn(
  key: string,
  isOurs: (environment: Listed) => boolean,
  { caller, clock }: Omit<Tools, 'signal'>,
  options: CallOptions & { signal: AbortSignal },
): Promise<Deletion> {
  const end = clock.monotonic() + commitMs;
  for (let read = 1; ; read += 1) {
    const found = await environmentsWithKey(key, caller, options);
    const marked = found.filter(isOurs);
    for (const environment of marked) await deleteEnvironment(environment, caller, options);
    if (found.length > 0) return marked.length > 0 ? 'deleted' : 'foreign';
    if (clock.monotonic() >= end && read >= leastReads) return 'missing';
    await clock.sleep(lookEveryMs, options.signal);
  }
}

/** Returns the environments that rungate created, oldest first. */
export async function ownEnvironments(caller: Caller): Promise<(readonly [createdAt: number, Listed])[]> {
  const marked: (readonly [number, Listed])[] = [];
  for await (const environment of listEnvironments(caller)) {
    const at = createdAt(environment);
    if (at !== null) marked.push([at, environment]);
  }
  return marked.toSorted(([a], [b]) => a - b);
}
