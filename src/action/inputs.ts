import { UsageError } from '../errors.ts';

/** How an input becomes words of the command line. */
type Kind = 'value' | 'switch' | 'list';

/**
 * The inputs that mirror flags of `run trigger --wait`, by the input's name. `on` and `tags` are lists: a flag for each
 * line, or for each part between commas.
 */
export const flagInputs = {
  'api-url': 'value',
  config: 'value',
  profile: 'value',
  project: 'value',
  process: 'value',
  tags: 'list',
  environment: 'value',
  repository: 'value',
  ref: 'value',
  'commit-sha': 'value',
  event: 'value',
  'external-url': 'value',
  strict: 'switch',
  on: 'list',
  interval: 'value',
  'max-attempts': 'value',
  timeout: 'value',
  'cancel-on-timeout': 'switch',
  'cancel-on-interrupt': 'switch',
  'fleet-size': 'value',
  'fleet-index': 'value',
  'idempotency-key': 'value',
  'idempotency-salt': 'value',
  junit: 'value',
  report: 'list',
  'ca-file': 'value',
  'request-timeout': 'value',
} as const satisfies Readonly<Record<string, Kind>>;

type FlagInput = keyof typeof flagInputs;

/** Flags whose name differs from the input's. */
const renamed: Partial<Record<FlagInput, string>> = { tags: 'tag' };

/** A switch that has an opposite may be switched off; the others are off by being left out. */
const withOpposite: readonly FlagInput[] = ['strict', 'cancel-on-interrupt'];

function switchWords(name: FlagInput, text: string): string[] {
  const value = text.toLowerCase();
  if (value === 'true') return [`--${name}`];
  if (value === 'false') return withOpposite.includes(name) ? [`--no-${name}`] : [];
  throw new UsageError(`the input ${name} is "${text}"`, { hint: 'write true or false' });
}

function listOf(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function words(name: FlagInput, text: string): string[] {
  const flag = `--${renamed[name] ?? name}`;
  const kind: Kind = flagInputs[name];
  if (kind === 'switch') return switchWords(name, text);
  // With an equals sign, so that a value that begins with a dash is never taken for a flag.
  return (kind === 'list' ? listOf(text) : [text]).map((value) => `${flag}=${value}`);
}

/** The cell of a matrix as a salt: `null` where the job has no matrix. */
function saltOf(salt: string, matrix: string): string {
  const cell = matrix === '' || matrix === 'null' || matrix === '{}' ? '' : matrix;
  return [salt, cell].filter((part) => part !== '').join(' ');
}

/** The command line that the inputs stand for. `read` gives an input's text, trimmed, and '' where it was left out. */
export function argvOf(read: (name: string) => string): string[] {
  const given = (name: FlagInput) =>
    name === 'idempotency-salt' ? saltOf(read(name), read('matrix')) : read(name);
  const flags = (Object.keys(flagInputs) as FlagInput[]).flatMap((name) => {
    const text = given(name);
    // A key that is given is the whole key: the cell of the matrix has no say in it.
    const unused = name === 'idempotency-salt' && !['', 'auto'].includes(read('idempotency-key'));
    return text === '' || unused ? [] : words(name, text);
  });
  return ['run', 'trigger', '--wait', ...flags];
}
