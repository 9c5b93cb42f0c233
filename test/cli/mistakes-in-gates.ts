import { type Mistake, project } from './mistake.ts';

const run = (...words: string[]) => ['run', 'gates', ...words];
const gates = (text: string) => project(`{ "project": "shop", "gates": ${text} }`);
const usual = gates('{ "api": { "process": "a" }, "web": { "tags": ["w"], "needs": ["api"] } }');

/** Mistakes in the gates of a project file, and in the commands that run them. */
export const mistakesInGates: readonly Mistake[] = [
  {
    name: 'a gate in other case',
    argv: run('API'),
    world: usual,
    code: 64,
    says: ['"API" is not one of the gates', 'did you mean api?'],
  },
  {
    name: 'gates in one word, as in the input of the action',
    argv: run('api,web'),
    world: usual,
    code: 64,
    says: ['"api,web" is not one of the gates', 'separate the names with spaces'],
  },
  {
    name: 'all gates, as in the input of the action',
    argv: run('all'),
    world: usual,
    code: 64,
    says: ['"all" is not one of the gates', 'without names, all gates run'],
  },
  {
    name: 'a gate with a long name that does not exist',
    argv: run('a'.repeat(40)),
    world: usual,
    code: 64,
    says: ['that is not one of the gates', 'write one of api, web'],
  },
  {
    name: 'waiting for gates',
    argv: run('--wait'),
    world: usual,
    code: 64,
    says: ["unknown option '--wait'", 'run gates always waits'],
  },
  {
    name: 'a process for all gates',
    argv: run('--process', 'checkout'),
    world: usual,
    code: 64,
    says: ["unknown option '--process'", 'each gate in .rungate.json has its own process or tags'],
  },
  {
    name: 'a key for all gates',
    argv: run('--idempotency-key', 'k'),
    world: usual,
    code: 64,
    says: ["unknown option '--idempotency-key'", '--idempotency-salt changes all of them'],
  },
  {
    name: 'gates as an option',
    argv: run('--gates', 'api'),
    world: usual,
    code: 64,
    says: ["unknown option '--gates'", 'write the names of gates without an option'],
  },
  {
    name: 'gates in one argument',
    argv: run('api web'),
    world: usual,
    code: 64,
    says: ['"api web" is not one of the gates', 'write each name as its own argument'],
  },
  {
    name: 'retries below 0',
    argv: run('--retries', '-1'),
    world: usual,
    code: 64,
    says: ['--retries: "-1" is not a number of retries', 'use a whole number'],
  },
  {
    name: 'no gates',
    argv: run(),
    world: gates('{}'),
    code: 64,
    says: ['no gates to run', 'write "gates" into /repo/.rungate.json'],
  },
  {
    name: 'a need that is not in a list',
    argv: run(),
    world: gates('{ "api": { "process": "a" }, "web": { "process": "w", "needs": "api" } }'),
    code: 78,
    says: ['/repo/.rungate.json:1:94: needs: expected a list of strings', 'also needs a list: ["smoke"]'],
  },
  {
    name: 'a gate with only the name of its process',
    argv: run(),
    world: gates('{ "api": "api-smoke" }'),
    code: 78,
    says: [
      '/repo/.rungate.json:1:40: expected an object of settings',
      'such as { "process": "smoke-tests" }',
    ],
  },
  {
    name: 'a need that is not a gate',
    argv: run(),
    world: gates('{ "api": { "process": "a" }, "web": { "process": "w", "needs": ["Api"] } }'),
    code: 78,
    says: ['gate web needs "Api", which is not a gate', 'did you mean "api"?'],
  },
  {
    name: 'gates that need each other',
    argv: run(),
    world: gates('{ "a": { "process": "a", "needs": ["b"] }, "b": { "process": "b", "needs": ["a"] } }'),
    code: 78,
    says: ['the needs form a cycle: a → b → a', 'remove one of these needs'],
  },
  {
    name: 'a field of another tool',
    argv: run(),
    world: gates('{ "api": { "process": "a", "allow_failure": true } }'),
    code: 78,
    says: ['unknown setting "allow_failure"', 'advisory'],
  },
];
