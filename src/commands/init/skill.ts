import { join } from 'node:path';
import text from '../../../SKILL.md?raw';
import { exitCodes } from '../../exit.ts';
import type { Io } from '../../host/io.ts';
import { findRoot } from '../../settings/locate.ts';
import type { Context } from '../context.ts';
import { differsError, type PlannedFile, reportFiles, writePlannedFiles } from './files.ts';

/** The folders of a repository's skills. The first one that exists gets the skill; if there is none, the first. */
export const skillFolders = ['.agents/skills', '.claude/skills', '.github/skills', '.cursor/skills'] as const;

function plannedSkill(root: string, io: Pick<Io, 'exists' | 'readFile'>, force: boolean): PlannedFile {
  const folder = skillFolders.find((name) => io.exists(join(root, name))) ?? skillFolders[0];
  const path = join(root, folder, 'rungate/SKILL.md');
  if (!io.exists(path)) return { path, text, fate: 'written' };
  if (new TextDecoder().decode(io.readFile(path)) === text) return { path, text, fate: 'kept' };
  return { path, text, fate: force ? 'written' : 'differs' };
}

/** Writes the skill, and no other file. @throws UsageError if it exists with other content */
export async function writeSkill(
  context: Context,
  { dryRun = false, force = false }: { dryRun?: boolean; force?: boolean },
): Promise<number> {
  const { io } = context;
  const file = plannedSkill(findRoot(io.cwd, io.exists) ?? io.cwd, io, force);
  if (file.fate === 'differs') throw differsError(io, file.path);
  if (!dryRun) writePlannedFiles(io, [file]);
  await reportFiles(context, { schemaVersion: 1, dryRun, ci: 'none', files: [file], command: null }, []);
  return exitCodes.ok;
}
