import { parseDuration } from '../../duration.ts';
import { UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { wholeCommit } from '../../receipt/statement.ts';
import { type Expected, plainUrl } from '../../receipt/verify.ts';
import { parseSought, type SoughtArtifact } from '../../subject.ts';
import { echoed } from '../../suggest.ts';
import { filled, namesIn } from '../options.ts';
import { digestOf } from '../run/subjects.ts';

/** The values of the options of `receipt verify`. */
export interface VerifyFlags {
  readonly key?: readonly string[];
  readonly commit?: string;
  readonly subject?: readonly string[];
  readonly subjectFile?: readonly string[];
  readonly gate?: readonly string[];
  readonly repository?: string;
  readonly project?: string;
  readonly process?: string;
  readonly tag?: readonly string[];
  readonly environment?: string;
  readonly baseUrl?: string;
  readonly requireDeployed?: boolean;
  readonly maxAge?: string;
  readonly allowWarned?: boolean;
}

function commitOf(text: string): string {
  const commit = wholeCommit(text);
  if (commit !== null) return commit;
  throw new UsageError(`--commit: "${text}" is not a whole commit of 40 or 64 hex digits`, {
    hint: 'an abbreviation could name another commit: give the output of git rev-parse <commit>',
  });
}

function soughtOf(text: string): SoughtArtifact {
  const sought = parseSought(text);
  if (sought !== null) return sought;
  throw new UsageError(`--subject: ${echoed(text)} is not <name>@sha256:<64 hex digits>`, {
    hint: 'write the name and the digest of the image, or sha256:<hex> for any name; a tag can move',
  });
}

async function subjectsOf(io: Io, { subject = [], subjectFile = [] }: VerifyFlags) {
  const subjects = subject.map(soughtOf);
  for (const path of subjectFile) {
    filled('--subject-file', path);
    subjects.push({ name: null, sha256: await digestOf(io, '--subject-file', path) });
  }
  return subjects.length === 0 ? undefined : subjects;
}

function baseUrlOf(text: string | undefined): string | undefined {
  if (text === undefined || plainUrl(text) !== null) return text;
  throw new UsageError('--base-url: expected an http or https URL without user name, query and fragment', {
    hint: 'write it like https://pr-7.example.com: a receipt has the base URL without its query',
  });
}

/** Returns the facts that the options demand of a receipt. @throws UsageError */
export async function demandsOf(io: Io, flags: VerifyFlags): Promise<Omit<Expected, 'keys' | 'now'>> {
  const { commit, subject, subjectFile, tag, maxAge, requireDeployed, allowWarned } = flags;
  if (commit === undefined && subject === undefined && subjectFile === undefined)
    throw new UsageError('nothing to compare the receipt with', {
      hint: 'say what this job releases: --commit "$(git rev-parse HEAD)", --subject "$IMAGE@$DIGEST" or --subject-file <file>',
    });
  if (tag !== undefined && flags.process !== undefined)
    throw new UsageError('--process and --tag cannot be combined', {
      hint: 'a run has either a process or tags: give the one that it was started with',
    });
  return {
    commit: commit === undefined ? undefined : commitOf(commit),
    subjects: await subjectsOf(io, flags),
    repository: filled('--repository', flags.repository),
    project: filled('--project', flags.project),
    process: filled('--process', flags.process),
    tags: tag?.flatMap((text) => namesIn('--tag', text)),
    environment: filled('--environment', flags.environment),
    baseUrl: baseUrlOf(filled('--base-url', flags.baseUrl)),
    requireDeployed,
    maxAgeMs: maxAge === undefined ? undefined : parseDuration('--max-age', maxAge),
    allowWarned,
  };
}
