import * as z from 'zod/mini';
import { defineApi, type Schema } from './endpoint.ts';
import { anyResponse, described, openEnum, optional, shown } from './fields.ts';

const text = z.string().check(z.minLength(1));

/** What a run is started with, beside what to run (interface, section 2.5). */
export interface TriggerFields {
  /** The project's slug. */
  projectSlug: string;
  /** The environment's key; the project's default environment where it is left out. */
  environmentKey?: string | null | undefined;
  repository?: string | null | undefined;
  ref?: string | null | undefined;
  commitSha?: string | null | undefined;
  event?: string | null | undefined;
  /** The URL of the CI build. */
  externalUrl?: string | null | undefined;
}

/**
 * What to run: one process by its slug, or the processes with these tags, at least one; never both (interface, 2.5). Of
 * several tags the contract does not say whether one or all must match.
 */
export type TriggerBody = TriggerFields &
  (
    | { processSlug: string; tags?: null | undefined }
    | { tags: readonly string[]; processSlug?: null | undefined }
  );

const isGiven = (value: unknown) => value !== undefined && value !== null;

/** Why a create request is not valid, in the interface's own terms, or null. */
export function selectorProblem(body: { processSlug?: unknown; tags?: unknown }): string | null {
  const process = isGiven(body.processSlug);
  const tags = isGiven(body.tags);
  if (process && tags) return 'processSlug and tags exclude each other: give exactly one of them';
  if (!process && !tags) return 'one of processSlug and tags is required';
  return null;
}

const tags = z.array(text).check(z.minLength(1)).register(shown, {
  description: 'Runs the processes with these tags; the contract does not say whether one or all must match.',
});

const triggerBody = z
  .strictObject({
    projectSlug: text,
    environmentKey: described(optional(text), 'environment by its key (default: that of the project)'),
    processSlug: optional(text),
    tags: optional(tags),
    repository: optional(text),
    ref: optional(text),
    commitSha: optional(text),
    event: optional(text),
    externalUrl: optional(text),
  })
  .check((ctx) => {
    const problem = selectorProblem(ctx.value);
    if (problem !== null) ctx.issues.push({ code: 'custom', message: problem, input: ctx.value, path: [] });
  })
  .register(shown, {
    id: 'RunRequest',
    oneOf: [
      { required: ['processSlug'], properties: { processSlug: { type: 'string' } } },
      { required: ['tags'], properties: { tags: { type: 'array' } } },
    ],
  }) as unknown as Schema<TriggerBody, TriggerBody>;

/** Where a create response may have the id of the run, in order of preference. */
export const runIdPlaces: readonly (readonly string[])[] = [
  ['runId'],
  ['id'],
  ['run', 'runId'],
  ['run', 'id'],
  ['data', 'runId'],
  ['data', 'id'],
];

/** The JSON schema of an object with the id of a run at the end of a path. */
function withRunId([name = '', ...rest]: readonly string[]): Record<string, unknown> {
  const id = { type: ['string', 'integer'], minLength: 1 };
  const schema = rest.length === 0 ? id : withRunId(rest);
  return { type: 'object', properties: { [name]: schema }, required: [name] };
}

/** The interface does not show the create response: any JSON is read, and the gate looks for the id of the run in it. */
const created: Schema<unknown, unknown> = z.unknown().register(shown, {
  description:
    'Not shown by the interface. rungate needs the id of the run, and looks for it in these places.',
  anyOf: runIdPlaces.map(withRunId),
});

/** Interface, section 2.6. A state that is not listed is not terminal. */
export const runStates = ['in_progress', 'completed', 'cancelled'] as const;
/** The states of a run (interface, section 2.6); the service may come to know others, which are not ends. */
export type RunState = (typeof runStates)[number];

const isCount = (value: unknown) => Number.isInteger(value) && Number(value) >= 0;

/** The counts of a run that has ended are required: who takes a count that is missing for 0 passes a run that failed. */
const countOfEnded = (name: 'failed' | 'blocked') =>
  z.refine(
    (status) => {
      const { state, [name]: count } = Object(status);
      return (state !== 'completed' && state !== 'cancelled') || isCount(count);
    },
    // Also where another field is wrong.
    { path: [name], error: 'expected a whole number, 0 or more', when: () => true },
  );

/** In the document a count is never null: generators of examples do not read the condition below. */
const counted = { type: 'integer', minimum: 0 };
const count = optional(z.number()).register(shown, { ...counted, anyOf: undefined });

/** Interface, section 2.6. Counts are only there to rely on once the run has ended: there, both must be. */
export const runStatus = z
  .looseObject({
    state: openEnum(runStates),
    failed: count,
    blocked: count,
    appUrl: optional(z.string()),
    retryAfterSeconds: optional(z.number().register(shown, { minimum: 0 })),
  })
  .check(countOfEnded('failed'), countOfEnded('blocked'))
  .register(shown, {
    id: 'RunStatus',
    if: { properties: { state: { enum: ['completed', 'cancelled'] } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
    then: { properties: { failed: counted, blocked: counted }, required: ['failed', 'blocked'] },
  });

/** A run is a few hundred bytes; a gate reads it again and again. */
const maxReplyBytes = 1024 * 1024;

export const run = defineApi(
  { section: '4.3', auth: 'key', response: anyResponse, maxReplyBytes },
  {
    'run.trigger': {
      method: 'POST',
      path: '/api/ci/runs',
      summary: 'Start a test run',
      body: triggerBody,
      response: created,
      keyed: true,
      idInResponse: true,
    },
    'run.status': {
      method: 'GET',
      path: '/api/ci/runs/{runId}',
      summary: 'Show the state and the counts of a run',
      response: runStatus,
    },
    'run.cancel': {
      method: 'POST',
      path: '/api/ci/runs/{runId}/cancel',
      summary: 'Cancel a run',
      body: z.strictObject({ reason: optional(z.string()) }),
      bodyOptional: true,
      // Cancelling twice leaves the run as cancelled as cancelling once: a lost response is no reason to give up.
      idempotent: true,
    },
  },
);
