import { join } from 'node:path';
import { providers } from '../../ci/context.ts';
import { installationOf } from '../../ci/installation.ts';
import { likelyProviders } from '../../ci/likely-provider.ts';
import { type Plan, pipelineOf, resumePipeline } from '../../ci/pipelines.ts';
import { defaultBranchOf, detectCi, gitFacts } from '../../ci/provider.ts';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { image } from '../../repository.ts';
import { findRoot } from '../../settings/locate.ts';
import { version } from '../../version.ts';
import { namedProjectFile } from '../config/choose-file.ts';
import type { Context } from '../context.ts';
import { findSkippedGates, skippedRemedy, skippedText } from '../doctor/checks.ts';
import { kebab } from '../endpoints/body-input.ts';
import { namesIn, oneOf } from '../options.ts';
import { shellQuoted } from '../shell-quoted.ts';
import { command, type FlagsOf, repeatable, rowOptions, under } from '../spec.ts';
import {
  type Answers,
  type CiChoice,
  chooseCi,
  confirmFiles,
  gatherAnswers,
  initNames,
  lostRun,
  runsGates,
  selectorBeside,
} from './answers.ts';
import { selfName } from './first-steps.ts';
import {
  answerFlags,
  bareCommand,
  configFlag,
  longestWaitOf,
  packageOf,
  plannedPipeline,
  statusOf,
} from './pipeline.ts';
import {
  differsError,
  displayPath,
  type PlannedFile,
  reportFiles,
  stepsAfterInit,
  writePlannedFiles,
} from './planned-files.ts';
import {
  changedFields,
  chooseTarget,
  differing,
  type FileFields,
  projectFileText,
  type Target,
} from './project.ts';
import { skillFolders, writeSkill } from './skill.ts';

const options = {
  ...rowOptions('init', 'The run:'),
  ...under('The run:', {
    '--gates <slugs>': repeatable(
      'write a gate for each of these processes (repeatable, or separated by commas), instead of --process or --tag',
    ),
  }),
  ...under('The files:', {
    '--ci <name>': `${providers.join(', ')} or none (default: the CI that the repository uses)`,
    '--merge-queue':
      'for GitHub: leave pull requests from forks to your merge queue (default: their gate fails)',
    '--detach':
      'for GitHub: end the job before the verdict, and write the workflow that a hub starts to set a commit status',
    '--dry-run': 'show the files without writing them',
    '--force':
      'change .rungate.json, keeping its other settings, and replace a workflow that runs rungate or a pipeline that init wrote',
    '--pipeline-only': 'leave .rungate.json unchanged, and put the given settings into the pipeline',
    '--skill': `write only rungate/SKILL.md, for coding agents, into the first of ${skillFolders.join(', ')} that exists (default: ${skillFolders[0]})`,
    '-y, --yes': 'use the defaults instead of prompting',
  }),
};
type InitFlags = FlagsOf<typeof options>;

/** The options of the other files. */
const besideSkill = 'project process tag environment gates ci mergeQueue detach pipelineOnly'.split(
  ' ',
) as (keyof InitFlags)[];

/** The plan for the project file, and what follows from it for the pipeline. */
interface Configuration {
  readonly target: Target;
  /** Null if only a pipeline is written. */
  readonly file: PlannedFile | null;
  readonly asked: boolean;
  /** The fields of the file that the commands will read. */
  readonly after: FileFields;
  readonly addressInFile: boolean;
  /** The settings that the command in the pipeline needs as options: the file does not have them, or has gates too. */
  readonly extra: Answers;
  /** The process or tags of the file that the pipeline does not run, since it runs the gates; null if there are none. */
  readonly lost: string | null;
}

/** @throws UsageError if one of the others is given too */
function refuseBeside(
  option: string,
  flags: InitFlags,
  others: readonly (keyof InitFlags)[],
  reason: string,
): void {
  const name = others.find((other) => flags[other] !== undefined);
  if (name === undefined) return;
  const hint = `leave out --${kebab(name)}: ${reason}`;
  throw new UsageError(`${option} and --${kebab(name)} cannot be combined`, { hint });
}

function refuseOutsideGitHub(flags: InitFlags, ci: CiChoice): void {
  const name = (['mergeQueue', 'detach'] as const).find((option) => flags[option] === true);
  if (name !== undefined && ci !== 'github')
    throw new UsageError(`--${kebab(name)} has no effect with --ci ${ci}`, { hint: 'leave it out' });
}

function gatesIn(flags: InitFlags): string[] {
  if (flags.gates === undefined) return [];
  const reason = 'init writes the gates into the project file';
  refuseBeside('--gates', flags, ['process', 'tag', 'pipelineOnly'], reason);
  return flags.gates.flatMap((names) => namesIn('--gates', names));
}

/** Repeats the user's `--config` in a command. */
const sameConfig = ({ config }: InitFlags) =>
  config === undefined ? '' : ` --config ${shellQuoted(config)}`;

/** Plans the project file, without writing it. */
async function configure(context: Context, root: string, flags: InitFlags): Promise<Configuration> {
  const { io, settings, sources } = context;
  const { force = false, pipelineOnly = false, yes = false } = flags;
  const named = namedProjectFile(io, flags.config);
  if (named === null) throw new UsageError('init needs a project file, and none turns it off');
  const processes = gatesIn(flags);
  const hasSettings = processes.length > 0 || initNames.some((name) => settings[name]?.origin === 'flag');
  const target = chooseTarget(io, root, sources.projectFile, {
    named: named !== undefined,
    given: hasSettings && !pipelineOnly,
  });
  const { path, exists, fields } = target;
  const mustBeWhole = !exists || hasSettings || (force && !pipelineOnly);
  const { answers, asked } = mustBeWhole
    ? await gatherAnswers(context, target, processes, !yes, sameConfig(flags))
    : { answers: {}, asked: false };
  const changes = pipelineOnly ? [] : differing(fields, answers);
  if (exists && changes.length > 0 && !force) {
    const problem = `${displayPath(io, path)} already exists with different settings: ${changes.join(', ')}`;
    throw new UsageError(problem, {
      hint: `edit it, or add --force to change these settings and keep the rest; to add only the pipeline, run rungate init${sameConfig(flags)} without settings`,
    });
  }
  const after = pipelineOnly ? fields : changedFields(io, target, answers);
  const extra = pipelineOnly ? answers : selectorBeside(after, answers);
  const isKept = exists && changes.length === 0;
  const planned: PlannedFile = isKept
    ? { path, text: '', fate: 'kept' }
    : { path, text: projectFileText(path, after), fate: 'written' };
  return {
    target,
    file: pipelineOnly ? null : planned,
    asked,
    after,
    addressInFile: answers.apiUrl !== undefined || after.apiUrl !== undefined,
    extra,
    lost: !selectsOne(extra) && runsGates(settings, after) ? lostRun(after) : null,
  };
}

/** Whether options say what to run, so that the command does not run the gates of the file. */
const selectsOne = ({ process, tags }: Answers) => process !== undefined || tags !== undefined;

async function plannedCi(context: Context, root: string, asked: boolean): Promise<CiChoice> {
  const { io, output } = context;
  const likely = likelyProviders({
    exists: (path) => io.exists(join(root, path)),
    remote: gitFacts((args) => io.capture(['git', ...args])).remote,
    running: detectCi(io.env).provider,
  });
  const choice = await chooseCi(context, likely, asked);
  if (choice !== null) return choice;
  await output.alert(
    `no pipeline was written: this repository seems to use ${likely.join(' and ')}; choose one with --ci`,
  );
  return 'none';
}

function planFor(
  { io }: Context,
  { target, file, after, addressInFile, extra }: Configuration,
  root: string,
  ci: CiChoice,
  flags: InitFlags,
): Plan {
  const { path, exists } = target;
  let manifest: string | null = null;
  try {
    manifest = new TextDecoder().decode(io.readFile(join(root, 'package.json')));
  } catch {}
  const shown = displayPath(io, path);
  const isRead = ci !== 'none' && (file !== null || exists);
  const ownImage = ci !== 'none' && pipelineOf(ci)?.takesImage ? image : undefined;
  const options = [...(isRead ? configFlag(root, path, shown) : []), ...answerFlags(extra, shown)];
  const packageRoot = { manifest, exists: (name: string) => io.exists(join(root, name)) };
  return {
    addressInFile,
    longestWaitMs: longestWaitOf(after, selectsOne(extra)),
    flags: options.join(' '),
    checkout: true,
    folder: packageOf(root, path),
    installation: installationOf(packageRoot, version, ownImage),
    defaultBranch: defaultBranchOf((args) => io.capture(['git', ...args])),
    mergeQueue: flags.mergeQueue === true,
    detached: flags.detach === true,
  };
}

/** Warns of what the new files do not do. */
async function warnAfter({ io, output }: Context, { target, lost }: Configuration, ci: CiChoice) {
  const shown = displayPath(io, target.path);
  for (const gate of ci === 'github' ? findSkippedGates(io) : []) {
    if (!gate.leftToQueue) await output.warn(output.excerpt(skippedText(gate), 400), skippedRemedy);
  }
  if (lost !== null) {
    const text = `the pipeline runs the gates of ${shown}, and none of them runs ${output.excerpt(lost)}`;
    await output.warn(text, 'to run that too, add a gate for it');
  }
  if (target.shadowed !== null) {
    const outer = displayPath(io, target.shadowed);
    await output.warn(
      `in this package ${shown} now replaces ${outer}, whose settings were copied, except "branches"`,
    );
  }
}

export const init = command({
  name: 'init',
  summary: 'write .rungate.json and a pipeline',
  heading: 'Gate:',
  description:
    'Write .rungate.json (or the file that --config names) and a pipeline for the CI of this repository, or of this package in a monorepo. rungate prompts for missing settings. It sends nothing, writes no secret, and changes no existing file without --force.',
  options,
  examples: [
    'rungate init --project shop --process checkout --ci github',
    'rungate init --project shop --process checkout --ci gitlab --pipeline-only',
    'rungate init --gates api,web,mobile --ci github --force',
    'rungate init --skill',
  ],
  newProjectFile: ({ pipelineOnly, skill }) => pipelineOnly !== true && skill !== true,
  async run(context, _args, flags) {
    const { io } = context;
    const { dryRun = false, force = false } = flags;
    if (flags.skill === true) {
      const reason = '--skill writes only the skill; run rungate init again for the other files';
      refuseBeside('--skill', flags, besideSkill, reason);
      return writeSkill(context, flags);
    }
    // Check this before any prompt.
    if (flags.detach === true) {
      const reason =
        'a job that is skipped for a fork sets no commit status, so its pull request could not enter the queue';
      refuseBeside('--detach', flags, ['mergeQueue'], reason);
    }
    const named = flags.ci === undefined ? null : oneOf('--ci', [...providers, 'none'] as const, flags.ci);
    const root = findRoot(io.cwd, io.exists) ?? io.cwd;
    const configuration = await configure(context, root, flags);
    const { target, file, asked, extra } = configuration;
    const ci = named ?? (await plannedCi(context, root, asked));
    if (file === null && ci === 'none') {
      throw new UsageError('--pipeline-only needs a CI system', { hint: 'choose one with --ci' });
    }
    refuseOutsideGitHub(flags, ci);
    const pipeline = ci === 'none' ? undefined : pipelineOf(ci);
    const plan = planFor(context, configuration, root, ci, flags);
    const files: PlannedFile[] = file === null ? [] : [file];
    if (pipeline !== undefined) files.push(plannedPipeline(root, pipeline, plan, io, force));
    if (plan.detached) files.push(plannedPipeline(root, resumePipeline, plan, io, force));
    const kept = files.find(({ fate }) => fate === 'differs');
    if (file === null && kept !== undefined) throw differsError(io, kept.path);
    const fresh = files.filter(({ fate }) => fate === 'written').map(({ path }) => displayPath(io, path));
    if (asked && !dryRun && fresh.length > 0) await confirmFiles(context, fresh);
    if (!dryRun) writePlannedFiles(io, files);
    const self = selfName(io);
    const settings = answerFlags(extra, displayPath(io, target.path)).map((flag) => ` ${flag}`);
    const commands = {
      self,
      gate: `${self} gate${sameConfig(flags)}${settings.join('')}`,
      init: `${self} init${sameConfig(flags)}`,
    };
    const command = ci !== 'none' && pipeline === undefined ? bareCommand(plan) : null;
    const report = { schemaVersion: 1, dryRun, ci, files, command } as const;
    const status = plan.detached ? statusOf(configuration.after, extra) : null;
    const chosen = flags.ci === 'none' ? null : ci;
    await reportFiles(context, report, stepsAfterInit(chosen, pipeline, plan, commands, status));
    await warnAfter(context, configuration, ci);
    return exitCodes.ok;
  },
});
