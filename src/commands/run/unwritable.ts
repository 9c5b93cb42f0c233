import type { Output } from '../../output/output.ts';

export function whyOf(error: unknown, output: Output): string {
  return output.excerpt(error instanceof Error ? error.message : String(error));
}

const remedies: Readonly<Record<string, string>> = {
  EISDIR: 'it is a folder: name a file in it',
  ERR_FS_EISDIR: 'it is a folder: name a file in it',
  ENOTDIR: 'a part of the path is a file: check the path',
  EACCES: 'name a file that you may write to',
  EPERM: 'name a file that you may write to',
  EROFS: 'name a file that you may write to',
  ENOSPC: 'free some space on the disk',
};

export function remedyFor(error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  return remedies[code] ?? 'check the path and its permissions';
}
