/** Whether Redis works, and whether it ever has since the start. */
export interface RedisState {
  works: boolean;
  wasReached: boolean;
}

export interface ProbeFacts {
  /** Null without Redis. */
  redis(): RedisState | null;
  /** Opens a folder and closes it. @throws `EMFILE` or `ENFILE` if no file descriptor is left */
  openFolder(): unknown;
}

/** A hub is degraded while Redis does not work: it goes on with its share of the budget. */
export interface Readiness {
  status: 'ok' | 'degraded' | 'not ready';
  reasons?: readonly string[];
}

/** Says whether this hub should get requests. */
export interface Probes {
  /** The hub has begun to stop. */
  leave(): void;
  readiness(): Readiness;
}

export function createProbes(facts: ProbeFacts): Probes {
  let isLeaving = false;

  // Node closes a connection for which it has no descriptor, and says nothing.
  const hasDescriptor = () => {
    try {
      facts.openFolder();
      return true;
    } catch (error) {
      return !['EMFILE', 'ENFILE'].includes((error as NodeJS.ErrnoException).code ?? '');
    }
  };

  return {
    leave() {
      isLeaving = true;
    },
    readiness() {
      const redis = facts.redis();
      const reasons: string[] = [];
      const doubts: string[] = [];
      if (redis?.wasReached === true && !redis.works) doubts.push('Redis does not work');
      if (isLeaving) reasons.push('the hub is stopping');
      if (redis?.wasReached === false) reasons.push('Redis was not reached since the start');
      if (!hasDescriptor()) reasons.push('no file descriptor is left');
      if (reasons.length > 0) return { status: 'not ready', reasons: [...reasons, ...doubts] };
      return doubts.length > 0 ? { status: 'degraded', reasons: doubts } : { status: 'ok' };
    },
  };
}
