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

function words(name: FlagInput, text: string): string[] {
  const flag = `--${renamed[name] ?? name}`;
  const kind: Kind = flagInputs[name];
  if (kind === 'switch') return switchWords(name, text);
  const values = kind === 'list' ? text.split(/[\n,]/).map((part) => part.trim()) : [text];
  // With an equals sign, so that a value that begins with a dash is never taken for a flag.
  return values.filter((value) => value !== '').map((value) => `${flag}=${value}`);
}

/** The salt with the cell of the matrix: `null` if the job has none. A key that is given is the whole key, without a salt. */
function saltOf(read: (name: string) => string): string {
  if (!['', 'auto'].includes(read('idempotency-key'))) return '';
  const cell = read('matrix');
  const parts = [read('idempotency-salt'), ['null', '{}'].includes(cell) ? '' : cell];
  return parts.filter((part) => part !== '').join(' ');
}

/** The command line that the inputs stand for. `read` returns an input's text, trimmed, and '' if it was left out. */
export function argvOf(read: (name: string) => string): string[] {
  const flags = (Object.keys(flagInputs) as FlagInput[]).flatMap((name) => {
    const text = name === 'idempotency-salt' ? saltOf(read) : read(name);
    return text === '' ? [] : words(name, text);
  });
  return ['run', 'trigger', '--wait', ...flags];
}
