import { type Mistake, project } from './mistake.ts';

const withGates = project('{ "project": "shop", "gates": { "api": { "process": "a" } } }');

/** Spellings from before `rungate gate`, which answer with the new one. */
export const oldSpellings: readonly Mistake[] = [
  { name: 'run gates', argv: ['run', 'gates', '--strict'], world: withGates },
  { name: 'run gates with names', argv: ['run', 'gates', 'api'], world: withGates },
  { name: 'gate below run', argv: ['run', 'gate', '--process', 'checkout'] },
  { name: 'gates as a command', argv: ['gates', 'api'], world: withGates },
  { name: 'waiting for gates', argv: ['gate', '--wait'], world: withGates },
  { name: 'a strict pipeline', argv: ['init', '--strict'] },
  { name: 'a gate that does not wait', argv: ['gate', '--no-wait'], world: withGates },
  { name: 'all gates, as in the input of the action', argv: ['gate', 'all'], world: withGates },
  { name: 'all gates, without a file', argv: ['gate', 'all'] },
  { name: 'the size of a fleet', argv: ['gate', '--process', 'checkout', '--fleet-size', '20'] },
  { name: 'the place in a fleet', argv: ['run', 'wait', 'run_1', '--fleet-index', '3'] },
  { name: 'the size of a fleet in a file', argv: ['gate'], world: project('{ "fleetSize": 20 }') },
];
