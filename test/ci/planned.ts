import { pinned } from '../../src/ci/installation.ts';
import type { Plan } from '../../src/ci/pipelines.ts';
import { version } from '../../src/version.ts';

/** The plan of the pipelines on the pages in docs/how-to. */
export const planned: Plan = {
  flags: '--project shop --process checkout',
  checkout: false,
  folder: '',
  addressInFile: false,
  longestWaitMs: 60 * 60_000,
  installation: pinned(version),
  defaultBranch: 'main',
  mergeQueue: false,
  detached: false,
};
