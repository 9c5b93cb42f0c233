import { type Provider, providers } from '../../ci/context.ts';
import { UsageError } from '../../errors.ts';
import { excerpt } from '../../sanitize.ts';
import { UnfitValue } from '../../settings/kinds.ts';
import type { PlainName, Settings } from '../../settings/names.ts';
import { readValue } from '../../settings/table.ts';
import { nearest } from '../../suggest.ts';
import type { Context } from '../context.ts';

/** What `.rungate.json` is going to say. */
export interface Answers {
  apiUrl?: string;
  project: string;
  process?: string;
  tags?: readonly string[];
  environment?: string;
  strict?: boolean;
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

const setting =
  <Name extends PlainName>(name: Name) =>
  (answer: string) =>
    readValue(name, answer);

const tagList = (answer: string) =>
  readValue(
    'tags',
    answer.split(',').map((tag) => tag.trim()),
  );

/** What is the repository's and not a person's own: what a flag says, or the file that is replaced. */
function shared<Name extends keyof Answers>(settings: Settings, name: Name): Answers[Name] | undefined {
  const found = settings[name];
  const isShared = found?.origin === 'flag' || found?.origin === 'project file';
  return isShared ? (found.value as Answers[Name]) : undefined;
}

/** Only what is there: a file has no empty settings. */
function filledOnly(answers: { [Name in keyof Answers]: Answers[Name] | undefined }): Answers {
  return Object.fromEntries(
    Object.entries(answers).filter(([, value]) => value !== undefined),
  ) as unknown as Answers;
}

function missing(what: readonly string[]): UsageError {
  return new UsageError(`nobody can be asked here, and these are missing: ${what.join('; ')}`, {
    hint: 'for example: rungate init --project shop --process checkout --ci github',
  });
}

/**
 * What the settings say already, and what a person answers to the rest. Asked is only where something is missing that
 * there must be, and then for the rest as well.
 * @throws UsageError where nobody can be asked, or nothing was answered
 */
export async function gatherAnswers(
  context: Context,
  mayAsk: boolean,
): Promise<{ answers: Answers; asked: boolean }> {
  const { settings } = context;
  const known = {
    apiUrl: shared(settings, 'apiUrl'),
    project: settings.project?.value,
    process: settings.process?.value,
    tags: settings.tags?.value,
    environment: shared(settings, 'environment'),
    strict: shared(settings, 'strict'),
  };
  const selected = known.process !== undefined || known.tags !== undefined;
  const { project } = known;
  if (project !== undefined && selected) return { answers: filledOnly({ ...known, project }), asked: false };
  const wanted = [
    ...(project === undefined ? ['the project (--project <slug>)'] : []),
    ...(selected ? [] : ['what to run (--process <slug>, or --tag <tag>)']),
  ];
  if (!mayAsk) throw missing(wanted);
  const ask = async <Value>(question: string, read: (answer: string) => Value) => {
    const answer = await askFor(context, question, read);
    if (answer === null) throw missing(wanted);
    return answer;
  };
  const answers = { ...known };
  answers.project ??= await ask('Project, by its slug', setting('project'));
  if (answers.project === undefined) throw unanswered('the project');
  if (!selected) {
    answers.process = await ask('Process to run, by its slug (Enter for tags)', setting('process'));
    if (answers.process === undefined) answers.tags = await ask('Tags, with commas between them', tagList);
    if (answers.process === undefined && answers.tags === undefined) throw unanswered('what to run');
  }
  answers.environment ??= await ask(
    "Environment, by its key (Enter for the project's own)",
    setting('environment'),
  );
  if (settings.apiUrl === undefined)
    answers.apiUrl = await ask(
      "The service's address (Enter to set RUNGATE_API_URL instead)",
      setting('apiUrl'),
    );
  return { answers: filledOnly(answers), asked: true };
}

function unanswered(what: string): UsageError {
  return new UsageError(`${what} was not answered: nothing is written`, {
    hint: 'run rungate init again, or give the flags: see rungate init --help',
  });
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
  const hint = guess === null ? `${likely.join(' or ')}` : `Enter for ${guess}`;
  const answer = await askFor(
    context,
    `CI: github, gitlab, circleci, jenkins, … or none (${hint})`,
    (text) => {
      const found = choices.find((one) => one === text.toLowerCase());
      if (found !== undefined) return found;
      const near = nearest(text, choices);
      throw new UnfitValue(near === null ? `one of ${choices.join(', ')}` : `did you mean ${near}?`);
    },
  );
  return answer ?? guess;
}

/** Whether a person who was asked wants it done, too. */
export async function agreed({ io }: Context, paths: readonly string[]): Promise<boolean> {
  const answer = await io.ask(`Write ${paths.map((path) => excerpt(path)).join(' and ')}? [Y/n] `);
  return answer === null || /^(y(es)?)?$/i.test(answer.trim());
}
