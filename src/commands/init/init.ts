import { join } from 'node:path';
import { providers } from '../../ci/context.ts';
import { installationOf, type PackageRoot } from '../../ci/installation.ts';
import { likelyProviders } from '../../ci/likely-provider.ts';
import { type Plan, pipelineOf } from '../../ci/pipelines.ts';
import { defaultBranchOf, detectCi, gitFacts } from '../../ci/provider.ts';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import type { Flags } from '../../options/table.ts';
import { image } from '../../repository.ts';
import { findRoot } from '../../settings/locate.ts';
import { version } from '../../version.ts';
import { namedProjectFile } from '../config/project-file.ts';
import type { Context } from '../context.ts';
import { findSkippedGates, skippedRemedy, skippedText } from '../doctor/checks.ts';
import { namesIn, oneOf } from '../options.ts';
import {
  type Answers,
  askMergeQueue,
  type CiChoice,
  chooseCi,
  confirmFiles,
  gatherAnswers,
  initNames,
  lostRun,
  runsGates,
  selectorBeside,
} from './answers.ts';
import {
  bareCommand,
  differsError,
  displayPath,
  type PlannedFile,
  plannedPipeline,
  projectFileText,
  reportFiles,
  stepsAfterInit,
  writePlannedFiles,
} from './files.ts';
import { selfName } from './first-steps.ts';
import {
  answerFlags,
  configFlag,
  flagNames,
  localConfigFlag,
  longestWaitOf,
  packageOf,
  type ReadFile,
  sameConfig,
} from './plan.ts';
import { writeSkill } from './skill.ts';
import { changedFields, chooseTarget, differing, type Target } from './target.ts';

export interface InitFlags extends Flags {
  gates?: string[];
  ci?: string;
  mergeQueue?: boolean;
  pipelineOnly?: boolean;
  skill?: boolean;
  dryRun?: boolean;
  force?: boolean;
  yes?: boolean;
}

/** The plan for the project file, and what follows from it for the pipeline. */
interface Configuration extends Pick<Plan, 'addressInFile' | 'longestWaitMs'> {
  readonly target: Target;
  /** Null if only a pipeline is written. */
  readonly file: PlannedFile | null;
  readonly asked: boolean;
  /** The project file that the commands will read. */
  readonly reads: ReadFile;
  /** The settings that the command in the pipeline needs as options: the file does not have them, or has gates too. */
  readonly extra: Answers;
  /** The process or tags of the file that the pipeline does not run, since it runs the gates; null if there are none. */
  readonly lost: string | null;
}

function gatesIn({ gates, process, tag, pipelineOnly }: InitFlags): string[] {
  if (gates === undefined) return [];
  const others = { '--process': process, '--tag': tag, '--pipeline-only': pipelineOnly };
  const [other] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (other !== undefined) {
    throw new UsageError(`--gates and ${other} cannot be combined`, {
      hint: `leave out ${other}: init writes the gates into the project file`,
    });
  }
  return gates.flatMap((names) => namesIn('--gates', names));
}

/** @throws UsageError for an option about another file than the skill */
function checkOnlySkill({ settings }: Context, flags: InitFlags): void {
  const { gates, ci, mergeQueue, pipelineOnly } = flags;
  const own = { '--gates': gates, '--ci': ci, '--merge-queue': mergeQueue, '--pipeline-only': pipelineOnly };
  const given = [
    ...initNames.flatMap((name) => (settings[name]?.origin === 'flag' ? [flagNames[name]] : [])),
    ...Object.entries(own).flatMap(([flag, value]) => (value === undefined ? [] : [flag])),
  ];
  const [other] = given;
  if (other === undefined) return;
  throw new UsageError(`--skill and ${other} cannot be combined`, {
    hint: `leave out ${other}: --skill writes only the skill, and another rungate init writes the other files`,
  });
}

function existsError(
  { io, sources }: Context,
  path: string,
  changes: readonly string[],
  config: string | undefined,
): UsageError {
  const exists = `${displayPath(io, path)} already exists`;
  if (sources.projectFile === null) {
    const off = config === undefined ? 'RUNGATE_CONFIG=none' : '--config none';
    return new UsageError(`${exists}, but ${off} asks for a new file`, {
      hint: `to replace the whole file, add --force; to keep its other settings, also leave out ${off}`,
    });
  }
  return new UsageError(`${exists} with different settings: ${changes.join(', ')}`, {
    hint: `edit it, or add --force to change these settings and keep the rest; to add only the pipeline, run rungate init${sameConfig(config)} without settings`,
  });
}

/** Plans the project file, without writing it. */
async function configure(context: Context, root: string, flags: InitFlags): Promise<Configuration> {
  const { io, settings, sources } = context;
  const processes = gatesIn(flags);
  const hasSettings = processes.length > 0 || initNames.some((name) => settings[name]?.origin === 'flag');
  const named = namedProjectFile(io, flags.config) !== undefined;
  const pipelineOnly = flags.pipelineOnly === true;
  const target = chooseTarget(io, root, sources.projectFile, { named, given: hasSettings && !pipelineOnly });
  const { path, exists, fields } = target;
  const mustBeWhole = !exists || (flags.force === true && !pipelineOnly) || hasSettings;
  const { answers, asked } = mustBeWhole
    ? await gatherAnswers(context, target, processes, flags.yes !== true, sameConfig(flags.config))
    : { answers: {}, asked: false };
  if (pipelineOnly && answers.gates !== undefined) {
    throw new UsageError('--pipeline-only writes no gates', {
      hint: 'leave it out: init writes the gates into the project file',
    });
  }
  const changes = pipelineOnly ? [] : differing(fields, answers);
  if (exists && changes.length > 0 && flags.force !== true) {
    throw existsError(context, path, changes, flags.config);
  }
  const after = pipelineOnly ? fields : changedFields(io, target, answers);
  const extra = pipelineOnly ? answers : selectorBeside(after, answers);
  const one = extra.process !== undefined || extra.tags !== undefined;
  const fate = exists && changes.length === 0 ? 'kept' : 'written';
  const isOff = named && sources.projectFile === null;
  return {
    target,
    file: pipelineOnly ? null : { path, fate, text: fate === 'kept' ? '' : projectFileText(path, after) },
    asked,
    reads: !pipelineOnly ? path : isOff ? null : exists ? path : undefined,
    extra,
    addressInFile: answers.apiUrl !== undefined || after.apiUrl !== undefined,
    lost: !one && runsGates(settings, after) ? lostRun(after) : null,
    longestWaitMs: longestWaitOf(after, one),
  };
}

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

function packageRoot({ io }: Context, root: string): PackageRoot {
  let manifest: string | null = null;
  try {
    manifest = new TextDecoder().decode(io.readFile(join(root, 'package.json')));
  } catch {}
  return { manifest, exists: (name) => io.exists(join(root, name)) };
}

export async function initCommand(context: Context, flags: InitFlags): Promise<number> {
  const { io, output } = context;
  if (flags.skill === true) {
    checkOnlySkill(context, flags);
    return writeSkill(context, flags);
  }
  // Check this before any prompt.
  const named = flags.ci === undefined ? null : oneOf('--ci', [...providers, 'none'] as const, flags.ci);
  const root = findRoot(io.cwd, io.exists) ?? io.cwd;
  const configuration = await configure(context, root, flags);
  const { target, file, asked, reads, extra, lost } = configuration;
  const { path, shadowed } = target;
  const ci = named ?? (await plannedCi(context, root, asked));
  if (file === null && ci === 'none') {
    throw new UsageError('--pipeline-only needs a CI system', { hint: 'choose one with --ci' });
  }
  if (flags.mergeQueue === true && ci !== 'github')
    throw new UsageError(`--merge-queue has no effect with --ci ${ci}`, { hint: 'leave it out' });
  const pipeline = ci === 'none' ? undefined : pipelineOf(ci);
  const ownImage = pipeline?.takesImage ? image : undefined;
  const installation = installationOf(packageRoot(context, root), version, ownImage);
  const shown = displayPath(io, path);
  const settings = answerFlags(extra, shown);
  const plan: Plan = {
    addressInFile: configuration.addressInFile,
    longestWaitMs: configuration.longestWaitMs,
    flags: ci === 'none' ? '' : [...configFlag(root, reads, shown), ...settings].join(' '),
    checkout: true,
    folder: packageOf(root, path),
    installation,
    defaultBranch: defaultBranchOf((args) => io.capture(['git', ...args])),
    mergeQueue: flags.mergeQueue ?? (asked && ci === 'github' && (await askMergeQueue(context))),
  };
  const files: PlannedFile[] = file === null ? [] : [file];
  if (pipeline !== undefined) files.push(plannedPipeline(root, pipeline, plan, io, flags.force === true));
  const kept = files.find(({ fate }) => fate === 'differs');
  if (file === null && kept !== undefined) {
    throw differsError(io, kept.path);
  }
  const fresh = files.filter(({ fate }) => fate === 'written').map(({ path }) => displayPath(io, path));
  if (asked && flags.dryRun !== true && fresh.length > 0) await confirmFiles(context, fresh);
  if (flags.dryRun !== true) writePlannedFiles(io, files);
  const commands = { self: selfName(io), config: localConfigFlag(io, reads), settings };
  const command = ci !== 'none' && pipeline === undefined ? bareCommand(plan) : null;
  const report = { schemaVersion: 1, dryRun: flags.dryRun === true, ci, files, command } as const;
  await reportFiles(context, report, stepsAfterInit(ci, pipeline, plan, commands, flags.ci !== 'none'));
  const warn = async (text: string, remedy?: string) => {
    await output.alert(`${output.paint('warn', 'warning:')} ${text}`);
    if (remedy !== undefined) await output.alert(`  ${output.paint('dim', '→')} ${remedy}`);
  };
  for (const gate of ci === 'github' ? findSkippedGates(io) : []) {
    if (!gate.leftToQueue) await warn(output.excerpt(skippedText(gate), 400), skippedRemedy);
  }
  if (lost !== null) {
    const text = `the pipeline runs the gates of ${shown}, and none of them runs ${output.excerpt(lost)}`;
    await warn(text, 'to run that too, add a gate for it');
  }
  if (shadowed?.branches === true) {
    const outer = displayPath(io, shadowed.path);
    await warn(
      `in this package ${shown} now replaces ${outer}: its settings were copied, but not its "branches"`,
    );
  }
  return exitCodes.ok;
}
