import { type Provider, providers } from '../../ci/context.ts';
import { UsageError } from '../../errors.ts';
import { excerpt } from '../../sanitize.ts';
import { UnfitValue } from '../../settings/kinds.ts';
import type { PlainName, Settings } from '../../settings/names.ts';
import { readValue } from '../../settings/table.ts';
import { nearest } from '../../suggest.ts';
import type { Context } from '../context.ts';

/** What `.rungate.json` is going to say; it has no undefined settings. */
export interface Answers {
  apiUrl: string | undefined;
  project: string;
  process: string | undefined;
  tags: readonly string[] | undefined;
  environment: string | undefined;
  strict: boolean | undefined;
}

export type CiChoice = Provider | 'none';

/** Asks until the answer will do; undefined where nothing was answered, null where nobody can be asked. */
async function askFor<Value>(
  { io, output }: Context,
  question: string,
  read: (answer: string) => Value,
): Promise<Value | undefined | null> {
  for (;;) {
    const answer = await io.ask(`${question}: `);
    if (answer === null) return null;
    if (answer.trim() === '') return undefined;
    try {
      return read(answer.trim());
    } catch (error) {
      if (!(error instanceof UnfitValue)) throw error;
      await output.alert(`  ${error.message}`);
    }
  }
}

/** A value of the repository and not of one person: from a flag, or from the file that is replaced. */
function shared<Name extends 'apiUrl' | 'environment' | 'strict'>(
  settings: Settings,
  name: Name,
): Answers[Name] {
  const found = settings[name];
  const isShared = found?.origin === 'flag' || found?.origin === 'project file';
  return isShared ? (found.value as Answers[Name]) : undefined;
}

function missing(what: readonly string[]): UsageError {
  return new UsageError(`nobody can be asked here, and these are missing: ${what.join('; ')}`, {
    hint: 'for example: rungate init --project shop --process checkout --ci github',
  });
}

function unanswered(what: string): UsageError {
  return new UsageError(`${what} was not answered: nothing is written`, {
    hint: 'run rungate init again, or give the flags: see rungate init --help',
  });
}

/**
 * Returns the settings, and a person's answers about the others. It asks only if a required one is missing.
 * @throws UsageError if nobody can be asked, or a required question was not answered
 */
export async function gatherAnswers(
  context: Context,
  mayAsk: boolean,
): Promise<{ answers: Answers; asked: boolean }> {
  const { settings } = context;
  const project = settings.project?.value;
  const known = {
    apiUrl: shared(settings, 'apiUrl'),
    process: settings.process?.value,
    tags: settings.tags?.value,
    environment: shared(settings, 'environment'),
    strict: shared(settings, 'strict'),
  };
  const selected = known.process !== undefined || known.tags !== undefined;
  if (project !== undefined && selected) return { answers: { ...known, project }, asked: false };
  const wanted = [
    ...(project === undefined ? ['the project (--project <slug>)'] : []),
    ...(selected ? [] : ['what to run (--process <slug>, or --tag <tag>)']),
  ];
  if (!mayAsk) throw missing(wanted);
  const ask = async <Name extends PlainName>(name: Name, question: string) => {
    const read = (text: string) =>
      readValue(name, name === 'tags' ? text.split(',').map((tag) => tag.trim()) : text);
    const answer = await askFor(context, question, read);
    if (answer === null) throw missing(wanted);
    return answer;
  };
  const chosen = project ?? (await ask('project', 'Project, by its slug'));
  if (chosen === undefined) throw unanswered('the project');
  const answers: Answers = { ...known, project: chosen };
  if (!selected) {
    answers.process = await ask('process', 'Process to run, by its slug (Enter for tags)');
    if (answers.process === undefined) answers.tags = await ask('tags', 'Tags, with commas between them');
    if (answers.process === undefined && answers.tags === undefined) throw unanswered('what to run');
  }
  answers.environment ??= await ask('environment', "Environment, by its key (Enter for the project's own)");
  if (settings.apiUrl === undefined)
    answers.apiUrl = await ask('apiUrl', "The service's address (Enter to set RUNGATE_API_URL instead)");
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
    throw new UnfitValue(near === null ? `one of ${choices.join(', ')}` : `did you mean ${near}?`);
  });
  return answer ?? guess;
}

/** Whether a person who was asked wants it done, too. */
export async function agreed({ io }: Context, paths: readonly string[]): Promise<boolean> {
  const answer = await io.ask(`Write ${paths.map((path) => excerpt(path)).join(' and ')}? [Y/n] `);
  return answer === null || /^(y(es)?)?$/i.test(answer.trim());
}
