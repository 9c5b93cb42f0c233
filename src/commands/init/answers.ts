import { type Provider, providers } from '../../ci/context.ts';
import { DeclinedError, UsageError } from '../../errors.ts';
import { InvalidValue, jsonOf, readValue } from '../../options/read.ts';
import { excerpt } from '../../sanitize.ts';
import type { Settings, SettingValues } from '../../settings/names.ts';
import { instead } from '../../suggest.ts';
import type { Context } from '../context.ts';
import type { FileFields, Target } from './project.ts';

/** The settings that init writes, in the order of the file. It changes no others. */
export const initNames = ['apiUrl', 'project', 'process', 'tags', 'environment'] as const;

/** The settings from the options and the prompts, and the gates of the project file. */
export type Answers = Partial<Pick<SettingValues, (typeof initNames)[number]>> & { gates?: object };

export type CiChoice = Provider | 'none';

/** Prompts for a line; null if no one can be prompted. @throws DeclinedError if the input ends */
async function prompt({ io }: Context, question: string): Promise<string | null> {
  const answer = await io.ask(question);
  if (answer === undefined) throw new DeclinedError('the input ended; nothing was written');
  return answer;
}

/** Prompts until the input is valid. Returns undefined for empty input, and null if prompts are not possible. */
async function promptFor<Value>(
  context: Context,
  question: string,
  read: (answer: string) => Value,
): Promise<Value | undefined | null> {
  for (;;) {
    const answer = await prompt(context, `${question}: `);
    if (answer === null) return null;
    if (answer.trim() === '') return undefined;
    try {
      return read(answer.trim());
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      await context.output.alert(`  ${error.message}`);
    }
  }
}

/** Settings that are the same for every user, so that a new file may take them from the environment or a profile. */
const sharedNames: readonly string[] = ['project', 'process', 'tags'];

const hasGates = ({ gates }: FileFields) => Object.keys(gates ?? {}).length > 0;

/** The parts of a file that can have gates: the file itself and its branches. */
const partsOf = (fields: FileFields) => [fields, ...Object.values(Object(fields.branches)).map(Object)];

/** Tells whether the file has gates that the pipeline runs: no option names what to run instead. */
export function runsGates(settings: Settings, fields: FileFields): boolean {
  if ([settings.process, settings.tags].some((setting) => setting?.origin === 'flag')) return false;
  if (fields.process === undefined && fields.tags === undefined) return partsOf(fields).some(hasGates);
  return hasGates(fields);
}

/** Returns the process or tags that were given for a file with gates: the command runs the gates unless an option names one. */
export function selectorBeside(fields: FileFields, { process, tags }: Answers): Answers {
  if (!partsOf(fields).some(hasGates)) return {};
  return { ...(process !== undefined && { process }), ...(tags !== undefined && { tags }) };
}

/** Returns the process or tags of a file with gates, if none of them runs that; otherwise null. */
export function lostRun({ gates, process, tags }: FileFields): string | null {
  const usual = JSON.stringify(process ?? tags);
  const gateFields = Object.values(Object(gates) as Record<string, FileFields>);
  // A gate that says nothing runs what the file says.
  const runs = gateFields.map((gate) => JSON.stringify(gate.process ?? gate.tags) ?? usual);
  if (usual === undefined || runs.includes(usual)) return null;
  return process === undefined ? `the tags ${Object(tags).join(', ')}` : `the process ${process}`;
}

/** Returns the gates of an existing file, and one for each process that has none of its name. A package has only its own gates. */
function gatesWith({ exists, fields }: Target, processes: readonly string[]): object {
  const present = exists ? Object(fields.gates) : {};
  const added = processes.filter((process) => !Object.hasOwn(present, process));
  return { ...present, ...Object.fromEntries(added.map((process) => [process, { process }])) };
}

/** Returns the settings from the options, and those that a new file copies from the environment and the profile. */
function knownAnswers(settings: Settings, fields: FileFields): Answers {
  const selects = ['process', 'tags', 'gates'].some((name) => fields[name] !== undefined);
  const known = initNames.flatMap((name) => {
    const setting = settings[name];
    if (setting?.origin === 'flag') return [[name, setting.value]];
    const isInFile = fields[name] !== undefined || (selects && (name === 'process' || name === 'tags'));
    const isCopied = setting?.origin !== 'project file' && sharedNames.includes(name) && !isInFile;
    return setting === undefined || !isCopied ? [] : [[name, setting.value]];
  });
  return Object.fromEntries(known) as Answers;
}

function missing(what: readonly string[], config: string): UsageError {
  return new UsageError(`init cannot prompt here, and these settings are missing: ${what.join('; ')}`, {
    hint: `for example: rungate init${config} --project shop --process checkout --ci github`,
  });
}

function unanswered(what: string): UsageError {
  const hint = 'run rungate init again, or use its options: see rungate init --help';
  return new UsageError(`${what} is required; nothing was written`, { hint });
}

/** Prompts only if a required setting is missing. @throws UsageError if no prompt provides it */
export async function gatherAnswers(
  context: Context,
  target: Target,
  processes: readonly string[],
  mayAsk: boolean,
  config: string,
): Promise<{ answers: Answers; asked: boolean }> {
  const { settings } = context;
  const { fields } = target;
  const gates = processes.length === 0 ? {} : { gates: gatesWith(target, processes) };
  const answers: Answers = { ...knownAnswers(settings, { ...fields, ...gates }), ...gates };
  // Each gate of the file may have its own project.
  const isWhole = answers.gates === undefined && runsGates(settings, fields);
  const selected =
    isWhole || answers.gates !== undefined || settings.process !== undefined || settings.tags !== undefined;
  const wanted = [
    ...(settings.project === undefined && !isWhole ? ['the project (--project <slug>)'] : []),
    ...(selected ? [] : ['what to run (--process <slug>, or --tag <tag>)']),
  ];
  if (wanted.length === 0) return { answers, asked: false };
  if (!mayAsk) throw missing(wanted, config);
  const ask = async (name: (typeof initNames)[number], question: string) => {
    const answer = await promptFor(context, question, (text) => readValue(name, jsonOf(name, text)));
    if (answer === null) throw missing(wanted, config);
    if (answer !== undefined) Object.assign(answers, { [name]: answer });
    return answer !== undefined;
  };
  if (settings.project === undefined && !(await ask('project', 'Project slug')))
    throw unanswered('a project');
  const askRun = async () =>
    (await ask('process', 'Process slug (Enter to use tags)')) || ask('tags', 'Tags, separated by commas');
  if (!selected && !(await askRun())) throw unanswered('a process or a tag');
  if (answers.environment === undefined && fields.environment === undefined)
    await ask('environment', "Environment key (Enter for the project's default)");
  if (settings.apiUrl === undefined)
    await ask('apiUrl', 'URL of the service (Enter to set RUNGATE_API_URL instead)');
  return { answers, asked: true };
}

const choices: readonly CiChoice[] = [...providers, 'none'];

/** Chooses the CI among those that the repository seems to use. Null if several are possible and the user has to choose. */
export async function chooseCi(
  context: Context,
  likely: readonly Provider[],
  asked: boolean,
): Promise<CiChoice | null> {
  const [only, ...more] = likely;
  const guess = more.length === 0 ? (only ?? 'none') : null;
  if (!asked) return guess;
  const hint = guess === null ? likely.join(' or ') : `Enter for ${guess}`;
  const question = `CI: github, gitlab, circleci, jenkins, … or none (${hint})`;
  const answer = await promptFor(context, question, (text) => {
    const choice = choices.find((known) => known === text.toLowerCase());
    if (choice !== undefined) return choice;
    throw new InvalidValue(instead(text, choices, `choose one of ${choices.join(', ')}`));
  });
  return answer ?? guess;
}

export async function confirmFiles(context: Context, paths: readonly string[]): Promise<void> {
  const question = `Write ${paths.map((path) => excerpt(path)).join(' and ')}? [Y/n] `;
  const answer = await prompt(context, question);
  if (answer === null || !/^(y(es)?)?$/i.test(answer.trim())) throw new DeclinedError('nothing was written');
}
