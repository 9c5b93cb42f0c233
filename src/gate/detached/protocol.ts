import type { DetachedGate, DetachedNames, DetachedSave, Refusal } from './entry.ts';

/** The longest state that a hub keeps, in characters of base64url: 64 KiB. */
export const longestSealed = Math.ceil((64 * 1024 * 4) / 3);

/** The paths of a hub for detached gates, below its base URL. Requests and responses are JSON. */
export const detachedPaths = {
  register: '/v1/gates/register',
  save: '/v1/gates/save',
  fetch: '/v1/gates/fetch',
  decide: '/v1/gates/decide',
  list: '/v1/gates/list',
} as const;

/** The name of the workflow that a hub starts, and of its input. */
export const resumeWorkflow = 'rungate-resume.yml';
export const resumeInput = 'id';

/** The runs of a gate that a hub remembers at most. */
export const mostRuns = 100;

/** `job`: the random text of the job, which holds the gate. */
export interface RegisterRequest
  extends DetachedNames,
    Pick<DetachedSave, 'sealed' | 'runs' | 'endsInMs'>,
    Pick<DetachedGate, 'ref' | 'pull' | 'order' | 'kind'> {
  job: string;
}
/** `startsJobs`: whether the hub can start jobs, or only keeps the gate. */
export interface RegisterResponse {
  startsJobs: boolean;
  /** The gates that it replaces. */
  replaced: readonly (DetachedNames & Pick<DetachedSave, 'sealed'>)[];
}
export interface SaveRequest extends DetachedSave {
  id: string;
  job: string;
}
export interface FetchRequest {
  id: string;
  job: string;
}
export interface DecideResponse {
  /** The older gates of the commit status that are over. A late request of one may have set it. */
  older: readonly string[];
}
export interface FetchResponse extends DetachedNames, Pick<DetachedSave, 'sealed'> {
  /** Its timeout has come. */
  overdue: boolean;
}
export interface ListRequest {
  repository: string;
}
/** The gates that any job can continue, the oldest first. */
export interface ListResponse {
  ids: readonly string[];
}

/** How a hub refuses a request about a gate, with the refusal as `reason`, and what its job says then. */
export const refusals: Readonly<Record<Refusal, { status: number; fact: string; hint: string }>> = {
  unknown: {
    status: 404,
    fact: 'the hub does not have the gate',
    hint: 'it ended more than a day ago, or the hub has lost it: re-run the job of the pull request',
  },
  replaced: {
    status: 409,
    fact: 'a newer gate has replaced the gate',
    hint: 'the newer gate decides the commit status',
  },
  leased: {
    status: 409,
    fact: 'another job goes on with the gate',
    hint: 'that job decides the commit status',
  },
  done: {
    status: 409,
    fact: 'the commit status of the gate is set',
    hint: 're-run the job of the pull request for another verdict',
  },
  other: {
    status: 409,
    fact: 'another gate of the commit has the same commit status, so this one did not begin',
    hint: 'give each gate a name under "gates" in .rungate.json: the commit status has that name; if only its settings have changed, push another commit',
  },
};
