import { type Provider, providers } from '../../ci/context.ts';
import { DeclinedError, UsageError } from '../../errors.ts';
import { excerpt } from '../../sanitize.ts';
import type { Settings, SettingValues } from '../../settings/names.ts';
import { readValue, valueFromArgument } from '../../settings/table.ts';
import { InvalidValue } from '../../settings/value-types.ts';
import { nearest } from '../../suggest.ts';
import type { Context } from '../context.ts';

/** What init asks about, in the order of the file. It changes no other setting. */
export const askedNames = ['apiUrl', 'project', 'process', 'tags', 'environment', 'strict'] as const;

/** What flags and a person say about the project file. */
export type Answers = Partial<Pick<SettingValues, (typeof askedNames)[number]>>;

export type CiChoice = Provider | 'none';

/** A line that a person types. @throws DeclinedError if the input ends: no question is answered then */
async function typed({ io }: Context, question: string): Promise<string | null> {
  const answer = await io.ask(question);
  if (answer === undefined) throw new DeclinedError('the input ended: nothing is written');
  return answer;
}

/** Asks until the answer will do; undefined where nothing was answered, null where nobody can be asked. */
async function askFor<Value>(
  context: Context,
  question: string,
  read: (answer: string) => Value,
): Promise<Value | undefined | null> {
  for (;;) {
    const answer = await typed(context, `${question}: `);
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

/** What identifies the tests is the same for everybody, so the environment and a profile may give it to a new file. */
const ofEverybody: readonly string[] = ['project', 'process', 'tags'];

/** What flags say, and what a new file takes over from the environment and the profile. */
function knownAnswers(settings: Settings, fields: Readonly<Record<string, unknown>>): Answers {
  const selects = fields.process !== undefined || fields.tags !== undefined;
  const known = askedNames.flatMap((name) => {
    const setting = settings[name];
    if (setting?.origin === 'flag') return [[name, setting.value]];
    const isInFile = fields[name] !== undefined || (selects && (name === 'process' || name === 'tags'));
    const isTakenOver = setting?.origin !== 'project file' && ofEverybody.includes(name) && !isInFile;
    return setting === undefined || !isTakenOver ? [] : [[name, setting.value]];
  });
  return Object.fromEntries(known) as Answers;
}

function missing(what: readonly string[], config: string): UsageError {
  return new UsageError(`nobody can be asked here, and these are missing: ${what.join('; ')}`, {
    hint: `for example: rungate init${config} --project shop --process checkout --ci github`,
  });
}

function unanswered(what: string): UsageError {
  return new UsageError(`${what} was not answered: nothing is written`, {
    hint: 'run rungate init again, or give the flags: see rungate init --help',
  });
}

/**
 * Returns what flags and a person say. It asks only if a required setting is missing from the settings.
 * @param fields what the project file says already
 * @param config the `--config` that was given, for a hint
 * @throws UsageError if nobody can be asked, or a required question was not answered
 */
export async function gatherAnswers(
  context: Context,
  fields: Readonly<Record<string, unknown>>,
  mayAsk: boolean,
  config: string,
): Promise<{ answers: Answers; asked: boolean }> {
  const { settings } = context;
  const answers = knownAnswers(settings, fields);
  const selected = settings.process !== undefined || settings.tags !== undefined;
  const wanted = [
    ...(settings.project === undefined ? ['the project (--project <slug>)'] : []),
    ...(selected ? [] : ['what to run (--process <slug>, or --tag <tag>)']),
  ];
  if (wanted.length === 0) return { answers, asked: false };
  if (!mayAsk) throw missing(wanted, config);
  const ask = async (name: (typeof askedNames)[number], question: string) => {
    const answer = await askFor(context, question, (text) => readValue(name, valueFromArgument(name, text)));
    if (answer === null) throw missing(wanted, config);
    if (answer !== undefined) Object.assign(answers, { [name]: answer });
    return answer !== undefined;
  };
  if (settings.project === undefined && !(await ask('project', 'Project, by its slug')))
    throw unanswered('the project');
  if (
    !selected &&
    !(await ask('process', 'Process to run, by its slug (Enter for tags)')) &&
    !(await ask('tags', 'Tags, with commas between them'))
  )
    throw unanswered('what to run');
  if (answers.environment === undefined && fields.environment === undefined)
    await ask('environment', "Environment, by its key (Enter for the project's own)");
  if (settings.apiUrl === undefined)
    await ask('apiUrl', "The service's address (Enter to set RUNGATE_API_URL instead)");
  return { answers, asked: true };
}

const choices: readonly CiChoice[] = [...providers, 'none'];

/** Which CI it is for, of those that the repository seems to use. Null: that is for the person to say. */
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
  const answer = await askFor(context, question, (text) => {
    const found = choices.find((one) => one === text.toLowerCase());
    if (found !== undefined) return found;
    const near = nearest(text, choices);
    throw new InvalidValue(near === null ? `one of ${choices.join(', ')}` : `did you mean ${near}?`);
  });
  return answer ?? guess;
}

/** Asks whether the files shall be written. @throws DeclinedError if not */
export async function agree(context: Context, paths: readonly string[]): Promise<void> {
  const question = `Write ${paths.map((path) => excerpt(path)).join(' and ')}? [Y/n] `;
  const answer = await typed(context, question);
  if (answer === null || !/^(y(es)?)?$/i.test(answer.trim())) throw new DeclinedError('nothing is written');
}
