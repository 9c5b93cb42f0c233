import type { Mode } from './world.ts';

const gate = { commit: 'c1', pull: '7', order: 1 };
const newer = { commit: 'c2', pull: '7', order: 2 };
const different = [
  { ...gate, kind: 'a' },
  { ...gate, kind: 'b' },
];
const queue = { commit: 'q1', pull: null, order: 1 };
const both = ['passed', 'failed'] as const;
const usual = { gates: [gate], outcomes: both, deliveries: 1, depth: 100 };
const two = { gates: [gate, gate], outcomes: ['passed'], depth: 60 } as const;

/** The worlds that are explored, by name. */
export const modes = {
  'nothing fails': { ...usual, deliveries: 2 },
  'requests are lost': { ...usual, outcomes: ['passed'], losses: 2, depth: 25 },
  'requests are late': { ...usual, outcomes: ['passed'], delays: 2 },
  'jobs are killed': { ...usual, kills: 2 },
  'jobs are started by hand': { ...usual, replays: 1, schedules: 1 },
  'no job comes': { ...usual, noneComes: true },
  'the hub starts no jobs': { ...usual, startsJobs: false, schedules: 2, kills: 1 },
  'somebody sets the status': { ...usual, strangers: 1 },
  'the hub loses a gate': { ...usual, restarts: 1, losses: 1, depth: 21 },
  'two gates of a commit': { ...two, deliveries: 1 },
  'two gates of a commit, one started by hand': { ...two, replays: 1, depth: 28 },
  'two gates of a commit, a job is killed': { ...two, kills: 1, depth: 24 },
  'two gates of a commit, requests are late': { ...two, delays: 1, depth: 24 },
  'two commits of a pull request': { ...two, gates: [gate, newer] },
  'two commits of a pull request, requests are lost': { ...two, gates: [gate, newer], losses: 1, depth: 22 },
  'two commits of a pull request, the older one comes last': { ...two, gates: [newer, gate] },
  'two different gates of a commit': { ...two, gates: different, kills: 1, depth: 26 },
  'two different gates of a commit, requests are lost': { ...two, gates: different, losses: 1, depth: 22 },
  'one commit in a merge queue': { ...two, gates: [queue, queue] },
  'two commits in a merge queue': { ...two, gates: [queue, { ...queue, commit: 'q2' }], depth: 28 },
  'two pull requests': { ...two, gates: [gate, { ...newer, pull: '8' }], depth: 22 },
} satisfies Record<string, Mode>;
export type ModeName = keyof typeof modes;
