/** Whether Redis works, and whether it ever has since the start. */
export interface RedisState {
  works: boolean;
  wasReached: boolean;
}

/** A hub is degraded while Redis does not work: it goes on with its share of the budget. */
export interface Readiness {
  status: 'ok' | 'degraded' | 'not ready';
  reasons?: readonly string[];
}

/** Says whether this hub should get requests. @param redis null without Redis */
export function readinessOf(isLeaving: boolean, redis: RedisState | null): Readiness {
  const reasons: string[] = [];
  if (isLeaving) reasons.push('the hub is stopping');
  if (redis?.wasReached === false) reasons.push('Redis has not been reached since the start');
  const isDegraded = redis?.wasReached === true && !redis.works;
  const doubts = isDegraded ? ['Redis does not work'] : [];
  if (reasons.length > 0) return { status: 'not ready', reasons: [...reasons, ...doubts] };
  return isDegraded ? { status: 'degraded', reasons: doubts } : { status: 'ok' };
}
