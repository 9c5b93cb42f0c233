import * as z from 'zod/mini';
import { defineApi, get, post, type Schema } from './endpoint.ts';
import { anyResponse, described, openEnum, optional, shown } from './fields.ts';

const text = z.string().check(z.minLength(1));

/** The fields of a create request other than the selector. */
export interface TriggerFields {
  /** The project's slug. */
  projectSlug: string;
  /** The environment's key; default: the project's default environment. */
  environmentKey?: string | null | undefined;
  /** The name of the repository. */
  repository?: string | null | undefined;
  /** The branch or ref. */
  ref?: string | null | undefined;
  /** The hash of the commit. */
  commitSha?: string | null | undefined;
  /** The name of the event that triggered the build. */
  event?: string | null | undefined;
  /** The URL of the CI build. */
  externalUrl?: string | null | undefined;
}

/** A run of one process. */
export interface ProcessBody extends TriggerFields {
  /** The process's slug. Give either this or `tags`. */
  processSlug: string;
  /** Not with `processSlug`. */
  tags?: null | undefined;
}

/** A run of the processes with some tags. */
export interface TagsBody extends TriggerFields {
  /** At least one tag. The service does not say whether one or all of several must match. Give either this or `processSlug`. */
  tags: readonly string[];
  /** Not with `tags`. */
  processSlug?: null | undefined;
}

/** A run to start: of one process, or of the processes with some tags, never both. */
export type TriggerBody = ProcessBody | TagsBody;

const isGiven = (value: unknown) => value !== undefined && value !== null;

function selectorProblem(body: { processSlug?: unknown; tags?: unknown }): string | null {
  const process = isGiven(body.processSlug);
  const tags = isGiven(body.tags);
  if (process && tags) return 'processSlug and tags cannot be combined: give exactly one of them';
  if (!process && !tags) return 'one of processSlug and tags is required';
  return null;
}

const tags = z.array(text).check(z.minLength(1)).register(shown, {
  description: 'Runs the processes with these tags; the service does not say whether one or all must match.',
});

const triggerBody = z
  .strictObject({
    projectSlug: text,
    environmentKey: described(optional(text), "key of the environment (default: the project's default)"),
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

/** The places of the run id in a create response, in order of preference. */
export const runIdPlaces = [
  ['runId'],
  ['id'],
  ['run', 'runId'],
  ['run', 'id'],
  ['data', 'runId'],
  ['data', 'id'],
] as const satisfies readonly (readonly string[])[];

/** The fields of a new run, in the places where a gate looks for them. A service sends some of them. */
export interface CreatedRunFields {
  /** The run's id. */
  runId?: string | number | null | undefined;
  /** The run's id. */
  id?: string | number | null | undefined;
  /** The URL of the run's page. */
  appUrl?: string | null | undefined;
}

/**
 * The response to the request that creates a run. The API does not describe it: a service may put the run into it, or one level
 * deeper. `startRun` finds the id in any of these places, and in `Location`.
 */
export interface CreatedRun extends CreatedRunFields {
  /** The run, if it is one level deeper. */
  run?: CreatedRunFields | null | undefined;
  /** The run, if it is one level deeper. */
  data?: CreatedRunFields | null | undefined;
}

function withRunId([name = '', ...rest]: readonly string[]): Record<string, unknown> {
  const id = { type: ['string', 'integer'], minLength: 1 };
  const schema = rest.length === 0 ? id : withRunId(rest);
  return { type: 'object', properties: { [name]: schema }, required: [name] };
}

/** The API does not describe the create response: any JSON is accepted, and the gate looks for the run id in it. */
const created: Schema<unknown, unknown> = z.unknown().register(shown, {
  id: 'CreatedRun',
  description:
    'The service does not describe this response. rungate needs the run id, and looks for it in these places.',
  anyOf: runIdPlaces.map(withRunId),
});

/** An unlisted state is not terminal. */
export const runStates = ['in_progress', 'completed', 'cancelled'] as const;
/** The states of a run. The service may add others, which are not terminal. */
export type RunState = (typeof runStates)[number];

const isCount = (value: unknown) => Number.isInteger(value) && Number(value) >= 0;

/** Requires the counts of a run that has ended: a missing count read as 0 would pass a failed run. */
const countOfEnded = (name: 'failed' | 'blocked') =>
  z.refine(
    (status) => {
      const { state, [name]: count } = Object(status);
      return (state !== 'completed' && state !== 'cancelled') || isCount(count);
    },
    // Also if another field is wrong.
    { path: [name], error: 'expected a whole number, 0 or more', when: () => true },
  );

/** A count is never null in the document, because example generators ignore the condition below. */
const counted = { type: 'integer', minimum: 0 };
const count = (description: string) =>
  optional(z.number()).register(shown, { ...counted, anyOf: undefined, description });

/** The counts are reliable only once the run has ended, and both are then required. */
const runStatus = z
  .looseObject({
    state: described(openEnum(runStates), "the run's state; a state that is not listed is not the end"),
    failed: count('number of failed items, reliable once the run has ended'),
    blocked: count('number of blocked items, reliable once the run has ended'),
    appUrl: described(optional(z.string()), "URL of the run's page"),
    retryAfterSeconds: described(
      optional(z.number().register(shown, { minimum: 0 })),
      'time to wait before the next status read',
    ),
  })
  .check(countOfEnded('failed'), countOfEnded('blocked'))
  .register(shown, {
    id: 'RunStatus',
    if: { properties: { state: { enum: ['completed', 'cancelled'] } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schema
    then: { properties: { failed: counted, blocked: counted }, required: ['failed', 'blocked'] },
  });

/** A status has a few hundred bytes, and a gate reads it many times. */
const maxReplyBytes = 1024 * 1024;

export const run = defineApi(
  { auth: 'key', response: anyResponse, maxReplyBytes },
  {
    'run.trigger': post('/api/ci/runs', 'Start a test run', {
      body: triggerBody,
      response: created,
      keyed: true,
      idInResponse: true,
    }),
    'run.status': get('/api/ci/runs/{runId}', 'Show the state and the counts of a run', {
      response: runStatus,
    }),
    'run.cancel': post('/api/ci/runs/{runId}/cancel', 'Cancel a run', {
      body: z
        .strictObject({ reason: described(optional(z.string()), 'why the run is cancelled') })
        .register(shown, { id: 'CancelFields' }),
      bodyOptional: true,
      // A second cancellation has no further effect, so a lost response can be retried.
      idempotent: true,
    }),
  },
);
