import { createProbes, type Probes } from '../../src/hub/probes.ts';

/** Returns the probes of a hub without a fault. @param redis whether Redis works; null without Redis */
export const idleProbes = (redis: boolean | null = null): Probes =>
  createProbes({
    redis: () => (redis === null ? null : { works: redis, wasReached: true }),
    openFolder() {},
  });
