import type { GitFacts } from './context.ts';

/** What git says of the working copy. `read` runs one command and gives its output, or null when it failed. */
export function gitFacts(read: (args: string[]) => string | null): GitFacts {
  const line = (args: string[]) => read(args)?.trim() || null;
  const branch = line(['rev-parse', '--abbrev-ref', 'HEAD']);
  return {
    remote: line(['remote', 'get-url', 'origin']),
    branch: branch === 'HEAD' ? null : branch,
    commit: line(['rev-parse', 'HEAD']),
  };
}
