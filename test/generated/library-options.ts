import { gateRow, type OptionRow, optionIds, rowOf, sentence } from '../../src/options/table.ts';

/** The objects of options, and what the library says about each. */
const groups = {
  '': {
    type: 'LibraryOptions',
    about: 'The options of the library that the command line has, too. Each function takes some of them.',
  },
  hub: {
    type: 'GateHub',
    about:
      'The hub of a gate (`rungate hub`). Requests to it use the `caPem`, `proxyEnv` and `insecureHttp` of the gate.',
  },
  preview: {
    type: 'GatePreview',
    about:
      'A deployment to test: the gate creates an environment for it and deletes it. Requests to it use the `caPem`, `proxyEnv` and `insecureHttp` of the gate.',
  },
  deployed: {
    type: 'DeployedPage',
    about: 'The page that shows which build is deployed, and the build that is expected.',
  },
} as const;

function typeOf({ type, library }: OptionRow): string {
  if (library === 'hub.token') return 'string';
  switch (type.kind) {
    case 'url':
      return 'string | URL';
    case 'switch':
      return 'boolean';
    case 'duration':
    case 'count':
      return 'number';
    case 'list':
      return 'readonly string[]';
    case 'overrides':
      return 'GateOverrides';
    case 'choice':
      return (type.words ?? []).map((word) => `'${word}'`).join(' | ');
    default:
      return 'string';
  }
}

/** Returns a comment of one or several lines. */
function comment(text: string, indent: string): string {
  const one = `${indent}/** ${text} */`;
  if (one.length <= 130) return one;
  const lines = text.match(/.{1,124}(?: |$)/g) ?? [];
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line.trim()}`), `${indent} */`].join('\n');
}

function fieldOf(row: OptionRow): string {
  const name = row.library?.split('.').at(-1) ?? '';
  const about = comment(row.libraryHelp ?? sentence(gateRow(row)), '  ');
  return row.required?.includes('library')
    ? `${about}\n  ${name}: ${typeOf(row)};`
    : `${about}\n  ${name}?: ${typeOf(row)} | undefined;`;
}

/** Returns the text of src/options/library-options.ts. */
export function libraryOptions(): string {
  const rows = optionIds.map(rowOf).filter(({ library }) => library !== undefined);
  const interfaces = Object.entries(groups).map(([group, { type, about }]) => {
    const own = rows.filter(
      ({ library = '' }) => (library.includes('.') ? library.split('.')[0] : '') === group,
    );
    return `${comment(about, '')}\nexport interface ${type} {\n${own.map(fieldOf).join('\n')}\n}`;
  });
  return [
    '// Generated from the rows by `npm run generate`; do not edit. A test fails while it is stale.',
    "import type { GateOverrides } from '../gate/policy.ts';",
    '',
    interfaces.join('\n\n'),
    '',
  ].join('\n');
}
