import { type Mistake, project } from './mistake.ts';

const run = (...words: string[]) => ['gate', ...words];
const gates = (text: string) => project(`{ "project": "shop", "gates": ${text} }`);
const usual = gates('{ "api": { "process": "a" }, "web": { "tags": ["w"], "needs": ["api"] } }');

/** Mistakes in the gates of a project file, and in the commands that run them. */
export const mistakesInGates: readonly Mistake[] = [
  { name: 'a gate in other case', argv: run('API'), world: usual },
  { name: 'a process beside a gate', argv: run('web', '--process', 'checkout'), world: usual },
  { name: 'a process as a name, without gates', argv: run('checkout') },
  { name: 'waiting for gates', argv: run('--wait'), world: usual },
  { name: 'a key for all gates', argv: run('--idempotency-key', 'k'), world: usual },
  { name: 'no gates', argv: run(), world: gates('{}') },
  {
    name: 'a need that is not in a list',
    argv: run(),
    world: gates('{ "api": { "process": "a" }, "web": { "process": "w", "needs": "api" } }'),
  },
  { name: 'a gate with only the name of its process', argv: run(), world: gates('{ "api": "api-smoke" }') },
  {
    name: 'a need that is not a gate',
    argv: run(),
    world: gates('{ "api": { "process": "a" }, "web": { "process": "w", "needs": ["Api"] } }'),
  },
  {
    name: 'gates that need each other',
    argv: run(),
    world: gates('{ "a": { "process": "a", "needs": ["b"] }, "b": { "process": "b", "needs": ["a"] } }'),
  },
  {
    name: 'a field of another tool',
    argv: run(),
    world: gates('{ "api": { "process": "a", "allow_failure": true } }'),
  },
];
