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

/** `job`: the random text of the job, which holds the gate. */
export interface RegisterRequest
  extends DetachedNames,
    DetachedSave,
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
export type DecideRequest = FetchRequest;
export interface DecideResponse {
  /** The older gates of the commit status that are over. A late request of one may have set it. */
  older: readonly string[];
}
export interface FetchResponse extends DetachedNames, Pick<DetachedSave, 'sealed'> {
  /** Its timeout has come. */
  overdue: boolean;
}
/** A refused request has status code 404 (unknown) or 409, and this body. */
export interface RefusedResponse {
  error: string;
  reason: Refusal;
}
export interface ListRequest {
  repository: string;
}
/** The gates that any job can continue, the oldest first. */
export interface ListResponse {
  ids: readonly string[];
}
