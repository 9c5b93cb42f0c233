import { join } from 'node:path';
import text from '../../../skills/rungate/SKILL.md?raw';
import { exitCodes } from '../../exit.ts';
import { findRoot } from '../../settings/locate.ts';
import type { Context } from '../context.ts';
import { differsError, reportFiles, writePlannedFiles } from './planned-files.ts';

/** The folders of a repository's skills. The first one that exists gets the skill; if there is none, the first. */
export const skillFolders = ['.agents/skills', '.claude/skills', '.github/skills', '.cursor/skills'] as const;

/** Writes the skill, and no other file. @throws UsageError if it exists with other content */
export async function writeSkill(
  context: Context,
  { dryRun = false, force = false }: { dryRun?: boolean; force?: boolean },
): Promise<number> {
  const { io } = context;
  const root = findRoot(io.cwd, io.exists) ?? io.cwd;
  const folder = skillFolders.find((name) => io.exists(join(root, name))) ?? skillFolders[0];
  const path = join(root, folder, 'rungate/SKILL.md');
  const present = io.exists(path) ? new TextDecoder().decode(io.readFile(path)) : null;
  if (present !== null && present !== text && !force) throw differsError(io, path);
  const files = [{ path, text, fate: present === text ? 'kept' : 'written' }] as const;
  if (!dryRun) writePlannedFiles(io, files);
  await reportFiles(context, { schemaVersion: 1, dryRun, ci: 'none', files, command: null }, []);
  return exitCodes.ok;
}
