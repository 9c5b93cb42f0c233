import type { Provider } from './context.ts';
import { cleanRef, cleanSha, cleanText, type Env, type Reader, readerOf } from './provider-row.ts';
import { repositoryOf } from './provider-url.ts';

/** A job whose verdict can stand in a commit status. */
export interface DetachableJob {
  /** `owner/name`. */
  repository: string;
  /** The commit with the status. */
  commit: string;
  /** The branch whose rules require the status. */
  branch: string;
  /** The branch with the workflow that goes on. */
  ref: string;
  /** The pull request, whose newer commit replaces the gate; null where every commit counts. */
  pull: string | null;
  /** Grows from event to event, and stays the same in a re-run. */
  order: number;
}

const numberOf = (value: unknown) => (Number.isSafeInteger(value) ? String(value) : null);

function onGitHub(read: Reader): DetachableJob | null {
  const event = read.text('GITHUB_EVENT_NAME') ?? '';
  const isQueue = event === 'merge_group';
  const isPull = event === 'pull_request' || event === 'pull_request_target';
  const repository = repositoryOf(read.text('GITHUB_REPOSITORY'));
  const ref = cleanRef(read.payload('repository', 'default_branch'));
  const commit = cleanSha(
    isQueue ? read.payload('merge_group', 'head_sha') : read.payload('pull_request', 'head', 'sha'),
  );
  const branch = cleanRef(
    isQueue ? read.payload('merge_group', 'base_ref') : read.payload('pull_request', 'base', 'ref'),
  );
  if (!isQueue && !isPull) return null;
  if (repository === null || ref === null || commit === null || branch === null) return null;
  // In pull_request_target, it is about the base branch.
  const isProtected = event === 'pull_request' && cleanText(read.text('GITHUB_REF_PROTECTED')) === 'true';
  const pull = isQueue || isProtected ? null : numberOf(read.payload('pull_request', 'number'));
  const order = Number(read.text('GITHUB_RUN_ID'));
  return { repository, commit, branch, ref, pull, order: Number.isSafeInteger(order) ? order : 0 };
}

/** The CI systems in whose jobs a gate can be detached. */
const rows: Partial<Record<Provider, (read: Reader) => DetachableJob | null>> = { github: onGitHub };

/** Returns the job; null if it is not for a pull request or a merge queue of such a CI system. */
export const detachableJob = (provider: Provider | null, env: Env, payload: string): DetachableJob | null =>
  (provider !== null && rows[provider]?.(readerOf(env, payload))) || null;
