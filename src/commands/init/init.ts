import { join } from 'node:path';
import { providers } from '../../ci/context.ts';
import { installationOf, type PackageRoot } from '../../ci/installation.ts';
import { likelyProviders } from '../../ci/likely-provider.ts';
import { type Plan, pipelineOf } from '../../ci/pipelines.ts';
import { detectCi, gitFacts } from '../../ci/provider.ts';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import { findRoot, projectFileName } from '../../settings/locate.ts';
import { version } from '../../version.ts';
import type { Context } from '../context.ts';
import { oneOf } from '../global-options.ts';
import { agreed, type CiChoice, chooseCi, gatherAnswers } from './answers.ts';
import {
  bareCommand,
  nextThings,
  type PlannedFile,
  plannedPipeline,
  projectFileText,
  shownPath,
  writeFiles,
} from './files.ts';
import { selfName } from './first-steps.ts';

export interface InitFlags {
  apiUrl?: string;
  project?: string;
  process?: string;
  tag?: string[];
  environment?: string;
  strict?: boolean;
  ci?: string;
  dryRun?: boolean;
  force?: boolean;
  yes?: boolean;
}

const settingFlags = ['apiUrl', 'project', 'process', 'tag', 'environment', 'strict'] as const;

/** The project file, and whether the service's address is in it. */
async function plannedProjectFile(context: Context, root: string, flags: InitFlags) {
  const { settings, sources } = context;
  const path = sources.projectFile ?? join(root, projectFileName);
  // With --config none there may be one that was not read.
  const isThere = sources.projectFile !== null || context.io.isThere(path);
  if (isThere && flags.force !== true) {
    const given = settingFlags.find((name) => flags[name] !== undefined);
    if (given !== undefined) {
      throw new UsageError(`${shownPath(context.io, path)} is there already, and is not overwritten`, {
        hint: 'edit it, or add --force to replace it; without settings, rungate init adds the pipeline alone',
      });
    }
    const addressInFile = settings.apiUrl?.origin === 'project file';
    return { file: { path, text: '', fate: 'kept' } as const, asked: false, addressInFile };
  }
  const { answers, asked } = await gatherAnswers(context, flags.yes !== true);
  const file = { path, text: projectFileText(path, answers), fate: 'written' } as const;
  return { file, asked, addressInFile: answers.apiUrl !== undefined };
}

async function plannedCi(context: Context, root: string, asked: boolean): Promise<CiChoice> {
  const { io, output } = context;
  const likely = likelyProviders({
    isThere: (path) => io.isThere(join(root, path)),
    remote: gitFacts((args) => io.capture(['git', ...args])).remote,
    running: detectCi(io.env).provider,
  });
  const choice = await chooseCi(context, likely, asked);
  if (choice !== null) return choice;
  await output.alert(
    `this repository seems to use ${likely.join(' and ')}: choose with --ci; no pipeline is written`,
  );
  return 'none';
}

const verbs = { written: 'wrote', kept: 'kept, it is there already:', shown: 'add this to' } as const;
const wouldBe = { ...verbs, written: 'would write' } as const;

/** What tells by which package manager the repository installs. */
function packageRoot({ io }: Context, root: string): PackageRoot {
  let manifest: string | null = null;
  try {
    manifest = new TextDecoder().decode(io.readFile(join(root, 'package.json')));
  } catch {}
  return { manifest, isThere: (name) => io.isThere(join(root, name)) };
}

/** `rungate init` */
export async function initCommand(context: Context, flags: InitFlags): Promise<number> {
  const { io, output } = context;
  // Before any question.
  const given = flags.ci === undefined ? null : oneOf('--ci', [...providers, 'none'] as const, flags.ci);
  const root = findRoot(io.cwd, io.isThere) ?? io.cwd;
  const { file, asked, addressInFile } = await plannedProjectFile(context, root, flags);
  const ci = given ?? (await plannedCi(context, root, asked));
  const installation = installationOf(packageRoot(context, root), version);
  const plan: Plan = { flags: '', addressInFile, installation };
  const pipeline = ci === 'none' ? undefined : pipelineOf(ci);
  const files: PlannedFile[] = [file];
  if (pipeline !== undefined) files.push(plannedPipeline(root, pipeline, plan, io, flags.force === true));
  const fresh = files.filter(({ fate }) => fate === 'written').map(({ path }) => shownPath(io, path));
  if (asked && flags.dryRun !== true && fresh.length > 0 && !(await agreed(context, fresh))) {
    await output.alert('nothing is written');
    return exitCodes.failed;
  }
  if (flags.dryRun !== true) writeFiles(io, files);
  await report(context, files, ci, plan, flags);
  return exitCodes.ok;
}

async function report(
  { io, output }: Context,
  files: readonly PlannedFile[],
  ci: CiChoice,
  plan: Plan,
  flags: InitFlags,
): Promise<void> {
  const dryRun = flags.dryRun === true;
  const onlyCommand = ci !== 'none' && pipelineOf(ci) === undefined ? bareCommand(plan) : null;
  const next = nextThings(ci, plan, selfName(io), flags.ci !== 'none');
  if (output.format === 'json' || output.format === 'ndjson') {
    const data = { schemaVersion: 1, dryRun, ci, files, command: onlyCommand };
    return output.data(data, { head: [], rows: [] });
  }
  for (const { path, text, fate } of files) {
    await output.result(`${(dryRun ? wouldBe : verbs)[fate]} ${shownPath(io, path)}\n`);
    if (fate === 'shown' || (dryRun && fate === 'written')) await output.result(`\n${text}\n`);
  }
  if (onlyCommand !== null) await output.result(`the step for ${ci}:\n\n    ${onlyCommand}\n\n`);
  for (const line of next) await output.note(line);
}
