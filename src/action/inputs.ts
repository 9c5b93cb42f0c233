import { UsageError } from '../errors.ts';

/** How an input becomes arguments of the command line. */
type Kind = 'value' | 'switch' | 'list';

/**
 * The inputs that mirror options of `run trigger --wait` and of `run gates`. A list becomes one option for each line, or for each part between
 * commas.
 */
export const optionInputs = {
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
  retries: 'value',
  'fail-fast': 'switch',
  'cancel-on-timeout': 'switch',
  'cancel-on-interrupt': 'switch',
  'fleet-size': 'value',
  'fleet-index': 'value',
  'deployed-url': 'value',
  'deployed-pointer': 'value',
  'deployed-is': 'value',
  'deployed-timeout': 'value',
  'deployed-header-file': 'value',
  'idempotency-key': 'value',
  'idempotency-salt': 'value',
  junit: 'value',
  report: 'list',
  receipt: 'value',
  'ca-file': 'value',
  'request-timeout': 'value',
} as const satisfies Readonly<Record<string, Kind>>;

type OptionInput = keyof typeof optionInputs;

/** Options whose name differs from the input's. */
const renamed: Partial<Record<OptionInput, string>> = { tags: 'tag' };

/** Switches with a `--no-` form, which `false` becomes. The other switches are left out if they are `false`. */
const withNoForm: readonly OptionInput[] = ['strict', 'cancel-on-interrupt'];

function switchArguments(name: OptionInput, text: string): string[] {
  const value = text.toLowerCase();
  if (value === 'true') return [`--${name}`];
  if (value === 'false') return withNoForm.includes(name) ? [`--no-${name}`] : [];
  throw new UsageError(`the input ${name} is "${text}"`, { hint: 'write true or false' });
}

function optionArguments(name: OptionInput, text: string): string[] {
  const option = `--${renamed[name] ?? name}`;
  const kind: Kind = optionInputs[name];
  if (kind === 'switch') return switchArguments(name, text);
  const values = kind === 'list' ? text.split(/[\n,]/).map((part) => part.trim()) : [text];
  // The equals sign keeps a value that begins with a dash from being read as an option.
  return values.filter((value) => value !== '').map((value) => `${option}=${value}`);
}

/** Returns the salt followed by the matrix cell (`null` without a matrix); '' if a key is given, which needs no salt. */
function saltOf(read: (name: string) => string): string {
  if (!['', 'auto'].includes(read('idempotency-key'))) return '';
  const cell = read('matrix');
  const parts = [read('idempotency-salt'), ['null', '{}'].includes(cell) ? '' : cell];
  return parts.filter((part) => part !== '').join(' ');
}

/** The inputs that only one of the two commands has. */
const withoutGates: readonly OptionInput[] = ['fail-fast'];
const onlyOneGate: readonly OptionInput[] = ['process', 'tags', 'idempotency-key', 'receipt'];

/** Returns the command: the gates of the project file that the input `gates` names, or `all` of them; or one gate without it. */
function commandOf(read: (name: string) => string): { command: string[]; names: string[] } {
  const text = read('gates');
  const isSet = (name: OptionInput) => !['', 'false', 'auto'].includes(read(name).toLowerCase());
  const useless = (text === '' ? withoutGates : onlyOneGate).find(isSet);
  if (useless !== undefined) {
    const hint = text === '' ? 'set gates, or leave it out' : 'leave it out, or run one gate without gates';
    throw new UsageError(`the input ${useless} has no effect ${text === '' ? 'without' : 'with'} gates`, {
      hint,
    });
  }
  if (text === '') return { command: ['run', 'trigger', '--wait'], names: [] };
  const names = text.split(/[\n,]/).map((name) => name.trim());
  const chosen = text === 'all' ? [] : names.filter((name) => name !== '');
  if (text !== 'all' && chosen.length === 0)
    throw new UsageError('the input gates names no gate', { hint: 'name gates, or write all' });
  // After `--`, a name that begins with a dash is not an option.
  return { command: ['run', 'gates'], names: chosen.length === 0 ? [] : ['--', ...chosen] };
}

/** Returns the command line for the inputs. `read` returns the trimmed text of an input, or '' if it is not set. */
export function argvOf(read: (name: string) => string): string[] {
  const { command, names } = commandOf(read);
  const options = (Object.keys(optionInputs) as OptionInput[]).flatMap((name) => {
    const text = name === 'idempotency-salt' ? saltOf(read) : read(name);
    // Several gates have automatic keys only.
    if (text === '' || (name === 'idempotency-key' && command[1] === 'gates')) return [];
    return optionArguments(name, text);
  });
  return [...command, ...options, ...names];
}
