import type { GitFacts } from './context.ts';

/** A branch's name and not the `HEAD` that git says where none is checked out. */
const noBranch = 'HEAD';

/**
 * What git says of the working copy. `read` runs git with these arguments and gives its output, or null when it failed:
 * without git, outside a repository, in a repository that is somebody else's. The remote comes as it is, credentials
 * and all: who shows it has to take them out.
 */
export function gitFacts(read: (args: string[]) => string | null): GitFacts {
  const line = (...args: string[]): string | null => {
    const [first, ...more] = (read(args) ?? '').split(/\r?\n/).filter((text) => text.trim() !== '');
    return first === undefined || more.length > 0 ? null : first.trim();
  };
  const commit = line('rev-parse', '--verify', '--quiet', 'HEAD^{commit}');
  const branch = line('symbolic-ref', '--short', '--quiet', 'HEAD');
  return {
    // As configured: `remote get-url` would apply `insteadOf`, which is where tokens are put in.
    remote: line('config', '--get', 'remote.origin.url'),
    branch: branch === noBranch ? null : branch,
    commit: commit !== null && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(commit) ? commit : null,
  };
}
