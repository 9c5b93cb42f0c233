import { UsageError } from '../errors.ts';
import { secretParts } from '../options/secret-parts.ts';
import { flagName, inputName, isSecretId, type OptionRow, optionIds, rowOf } from '../options/table.ts';
import { splitNames } from '../options/types.ts';

type ReadInput = (name: string) => string;

const idsWithInput = optionIds.filter((id) => inputName(rowOf(id)) !== null);

/** The options that the action passes on as arguments; it passes on the others as variables. */
export const argumentRows = idsWithInput.map(rowOf).filter(({ flag }) => flag !== undefined);
export const variableIds = idsWithInput.filter((id) => rowOf(id).flag === undefined);

/** The inputs that are not options: the names of gates, and the matrix cell. */
export const ownInputs = {
  gates:
    'Gates of .rungate.json to run, one per line or separated by commas, with their dependencies (default: all). With process or tags, the action runs one gate instead.',
  matrix: 'Cell of the matrix, set by the runner.',
} as const;

const nameOfInput = (row: OptionRow) => inputName(row) ?? '';

function switchArguments(row: OptionRow, text: string): string[] {
  const value = text.toLowerCase();
  const option = flagName(row);
  if (value === 'true') return [option];
  // Without a `--no-` form, the option is left out.
  if (value === 'false') return row.no === undefined ? [] : [`--no-${option.slice(2)}`];
  throw new UsageError(`the input ${nameOfInput(row)} is "${text}"`, { hint: 'write true or false' });
}

/** Returns the arguments for an input. A list becomes one option for each line, or for each part between commas. */
function argumentsFor(row: OptionRow, text: string): string[] {
  const { kind } = row.type;
  if (kind === 'switch') return switchArguments(row, text);
  const values =
    kind === 'list' || kind === 'overrides' ? text.split(/[\n,]/).map((part) => part.trim()) : [text];
  // The equals sign keeps a value that begins with a dash from being read as an option.
  return values.filter((value) => value !== '').map((value) => `${flagName(row)}=${value}`);
}

/** Returns the salt followed by the matrix cell (`null` without a matrix); '' if a key is given, which needs no salt. */
function saltOf(read: ReadInput): string {
  if (!['', 'auto'].includes(read('idempotency-key'))) return '';
  const cell = read('matrix');
  const parts = [read('idempotency-salt'), ['null', '{}'].includes(cell) ? '' : cell];
  return parts.filter((part) => part !== '').join(' ');
}

/** Returns the arguments of some options. */
export const argumentsOf = (rows: readonly OptionRow[], read: ReadInput): string[] =>
  rows.flatMap((row) => argumentsFor(row, read(nameOfInput(row))));

/** Returns the command line for the inputs. `read` returns the trimmed text of an input, or '' if it is not set. */
export function argvOf(read: ReadInput): string[] {
  const options = argumentRows.flatMap((row) => {
    const text = nameOfInput(row) === 'idempotency-salt' ? saltOf(read) : read(nameOfInput(row));
    return text === '' ? [] : argumentsFor(row, text);
  });
  const names = splitNames(read('gates'));
  // After `--`, a name that begins with a dash is not an option.
  return ['gate', ...options, ...(names.length === 0 ? [] : ['--', ...names])];
}

/** Returns the secrets in the inputs, and their parts. */
export const secretInputs = (read: ReadInput): string[] =>
  variableIds.filter(isSecretId).flatMap((id) => secretParts(id, read(nameOfInput(rowOf(id)))));

/** The shortest part of a secret that the log masks by itself: masking a word would garble it. */
const shortestMask = 8;

/** The variables that no argument may have, or that have no option. `setSecret` receives each secret. */
export function inputVariables(
  read: ReadInput,
  setSecret: (secret: string) => void,
): Record<string, string | undefined> {
  const entries = variableIds.flatMap((id): [string, string | undefined][] => {
    const { env = '' } = rowOf(id);
    const value = read(nameOfInput(rowOf(id)));
    if (value === '') return [];
    if (!isSecretId(id)) return [[env, value]];
    const parts = secretParts(id, value).filter(({ length }) => length >= shortestMask);
    for (const part of new Set([value, ...parts])) setSecret(part);
    return [
      [env, value],
      [`${env}_FILE`, undefined],
    ];
  });
  return Object.fromEntries(entries);
}
