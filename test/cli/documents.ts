import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Command } from 'commander';
import { formatAtFirstSight } from '../../src/cli/argv.ts';
import { everyCommand } from '../../src/cli/program.ts';
import { fullName } from '../../src/commands/command.ts';
import { run } from '../../src/contract/run.ts';
import { closedSchema, type DocumentName, documentNames } from '../commands/json-schemas.ts';
import { documents } from '../generated/documents.ts';

const ajv = new Ajv2020({ strict: false, strictNumbers: false, formats: { 'date-time': true } });
const validators = new Map<DocumentName, ValidateFunction>();

/** Compiles a schema when the first document needs it. */
function validatorOf(name: DocumentName): ValidateFunction {
  const validator = validators.get(name) ?? ajv.compile(closedSchema(name));
  validators.set(name, validator);
  return validator;
}

let program: Promise<Command> | undefined;

/** Returns the name of the command that a command line calls, without `rungate`. */
async function commandIn(argv: readonly string[]): Promise<string> {
  program ??= everyCommand();
  let command = await program;
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    const option = command.options.find(({ short, long }) => short === word || long === word);
    if (option?.required === true) at += 1;
    if (word.startsWith('-')) continue;
    if (word === 'help') return word;
    const next = command.commands.find((child) => child.name() === word);
    if (next === undefined) break;
    command = next;
  }
  return fullName(command).replace(/^rungate ?/, '');
}

/** Returns the schema of the output of a command line: that for one of its options comes first. */
function documentOf(command: string, argv: readonly string[]): DocumentName | undefined {
  const ofLine = (line: string) =>
    documentNames.find((name) => documents[name].commands.some((one) => one === line));
  const withOption = argv.map((word) => ofLine(`${command} ${word}`)).find((name) => name !== undefined);
  return withOption ?? ofLine(command);
}

/** Returns the JSON values of a text that is one, or has one in each line. */
function valuesIn(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  }
}

/** The documents that break their schema because the service broke the API, or because a secret is `***`. */
const isExcused = (name: DocumentName, value: unknown) =>
  JSON.stringify(value).includes('***') ||
  (name === 'run-status' && !run['run.status'].response.safeParse(value).success);

function check(name: DocumentName, value: unknown, argv: readonly string[]): void {
  const validate = validatorOf(name);
  if (validate(value) || isExcused(name, value)) return;
  const problems = ajv.errorsText(validate.errors, { dataVar: '', separator: '\n  ' });
  throw new Error(
    `docs/schemas/${name}.json refuses the output of rungate ${argv.join(' ')}:\n  ${problems}\n${JSON.stringify(value)}`,
  );
}

/** Checks the JSON that a command has printed. @throws Error if a document breaks its schema */
export async function checkDocuments(argv: readonly string[], out: string, err: string): Promise<void> {
  if (formatAtFirstSight(argv) === 'plain') return;
  for (const line of err.split('\n')) {
    if (line.startsWith('{"error":')) check('error', JSON.parse(line), argv);
  }
  if (out === '' || argv.includes('--help') || argv.includes('--version')) return;
  const command = await commandIn(argv);
  const name = documentOf(command, argv);
  if (name === undefined) return;
  for (const value of valuesIn(out)) check(name, value, argv);
}
