import type { StopCause } from '../errors.ts';
import { detectCi } from './provider.ts';
import type { Env } from './provider-env.ts';

/** What the service is told when a run is cancelled: why, and in which job, so that whoever finds it knows where to look. */
export function cancelReason(why: StopCause | 'timeout', env: Env): string {
  const what = why === 'timeout' ? 'rungate: the wait timed out' : `rungate: stopped by ${why}`;
  const { provider, job, buildUrl } = detectCi(env);
  if (provider === null) return what;
  return [what, `in ${provider}${job === null ? '' : ` job ${job}`}`, buildUrl].filter(Boolean).join(' ');
}
