/** `json/`, and the files directly in `src/`, which import no other part of the project. */
const leaves =
  '(json/|(clock|collected-bytes|count|date-time|duration|errors|exit|listen|money|own-options|parse-url|redact|repository|sanitize|subject|suggest|version)[.]ts)';

/** What each part may import, besides itself. The order is the direction: a part imports only parts above it. */
const mayImport = {
  'json/': ['redact[.]ts'],
  [leaves]: [leaves],
  'host/': [leaves],
  'contract/': [leaves],
  'webhook/': ['json/', '(collected-bytes|date-time|own-options)[.]ts'],
  'transport/': [leaves, 'contract/'],
  'client/': [leaves, 'options/', 'gate/policy[.]ts', 'contract/', 'transport/'],
  'mock/': [leaves, 'contract/', 'webhook/'],
  'gate/': [leaves, 'contract/', 'transport/', 'client/'],
  'hub/': [leaves, 'webhook/', 'gate/(fleet|detached)/protocol[.]ts', 'gate/detached/entry[.]ts'],
  'receipt/': [leaves, 'gate/(policy|report|result-types)[.]ts'],
  'preview/': [leaves, 'options/library-options[.]ts', 'contract/', 'transport/', 'client/', 'gate/'],
  'ci/': [leaves, 'gate/'],
  'options/': [leaves, 'transport/address[.]ts', 'gate/(limits|policy|fleet/protocol)[.]ts'],
  'settings/': [leaves, 'options/', 'transport/address[.]ts', 'gate/(limits|policy|plan/graph)[.]ts'],
  'output/': [leaves, 'host/', 'gate/(policy|plan/graph)[.]ts'],
  'library/': [leaves, '(options|contract|transport|client|mock|gate|preview|ci|receipt)/'],
  'commands/': [
    leaves,
    '(host|contract|webhook|transport|client|mock|gate|preview|hub|receipt|ci|options|settings|output|library)/',
  ],
  'cli/': [leaves, '(host|transport|settings|output|commands)/'],
  'action/': [leaves, 'options/'],
  'action[.]ts': [leaves, '(host|transport|ci|options|commands|cli|action)/'],
  'index[.]ts': [leaves, '(options|contract|transport|client|mock|gate|webhook|receipt|library)/'],
};

const parts = Object.keys(mayImport).join('|');

const direction = Object.entries(mayImport).map(([part, others]) => ({
  name: `${part.replace(/\/$|\[[.]\]ts$/, '')} imports in one direction`,
  severity: 'error',
  from: { path: `^src/${part}` },
  to: { path: '^src/', pathNot: `^src/(${[part, ...others].join('|')})` },
}));

/** Packages that one part alone uses. */
const onlyIn = {
  commander: '(cli|commands)/',
  undici: 'transport/',
  'cli-table3': 'output/',
  chalk: 'output/',
  ora: 'output/',
  conf: '(host|settings)/',
  which: 'host/',
  'shebang-command': 'host/',
  'p-retry': 'client/',
  'eventsource-parser': 'gate/',
  '@redis/client': 'hub/',
  'prom-client': 'commands/hub/',
};

const packages = Object.entries(onlyIn).map(([name, place]) => ({
  name: `${name} has one place`,
  severity: 'error',
  from: { path: '^src/', pathNot: `^src/${place}` },
  to: { path: `^node_modules/${name}/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...direction,
    ...packages,
    {
      name: 'every file has its part',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/(${parts})` },
      to: {},
    },
    {
      // The import opens standard input. The host uses the global, and other parts not even that (biome.json).
      name: 'nothing imports node:process',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(node:)?process$' },
    },
    { name: 'no cycles', severity: 'error', from: { path: '^src/' }, to: { circular: true } },
    { name: 'imports exist', severity: 'error', from: { path: '^src/' }, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    // Imports of types count as well.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types'] },
  },
};
