import { parseDuration } from '../../duration.ts';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import type { Io } from '../../host/io.ts';
import { ReceiptError } from '../../receipt/error.ts';
import { type Key, readPublicKey } from '../../receipt/keys.ts';
import { type Expected, plainUrl, wanted } from '../../receipt/options.ts';
import { factsOf, wholeCommit } from '../../receipt/statement.ts';
import { examine } from '../../receipt/verify.ts';
import { parseSought, type SoughtArtifact } from '../../subject.ts';
import { echoed } from '../../suggest.ts';
import type { Context } from '../context.ts';
import { filled, namesIn } from '../options.ts';
import { digestOf } from '../run/subjects.ts';
import { command, type FlagsOf, repeatable } from '../spec.ts';
import { namedReceipts, readReceipt } from './named-receipts.ts';
import { printVerification, type Verification } from './verification.ts';

/** Of two values, the earlier one may be a check that must not be lost. */
const once = (help: string) => ({ help, single: 'give it once' });

const options = {
  '--key <file>': repeatable('public key to trust, PEM (repeatable: any of them may have signed)'),
  '--commit <sha>': once('the commit that must have been tested, in full'),
  '--subject <name@sha256:hex>': repeatable(
    'image or file that must have been tested; sha256:<hex> for any name (repeatable)',
  ),
  '--subject-file <file>': repeatable('file whose exact content must have been tested (repeatable)'),
  '--gate <name>': repeatable('gate that must have a receipt (repeatable)'),
  '--repository <name>': once('expected repository'),
  '-p, --project <slug>': once('expected project'),
  '--process <slug>': once('expected process'),
  '--tag <tag>': repeatable('expected tag (repeatable, or separated by commas): exactly these'),
  '-e, --environment <key>': once('expected environment'),
  '--base-url <url>': once('expected URL of a preview deployment, without a query'),
  '--require-deployed': 'refuse a receipt whose gate did not check which build was deployed',
  '--max-age <duration>': once('maximum time since the runs ended, such as 24h (default: any)'),
  '--allow-warned':
    'also accept WARNED: a run that failed, or passed only on a retry, which the policy let through',
};
type VerifyFlags = FlagsOf<typeof options>;

interface TrustedKey extends Key {
  readonly path: string;
}

async function readKeys({ io }: Context, paths: readonly string[] | undefined): Promise<TrustedKey[]> {
  if (paths === undefined)
    throw new UsageError('no key to trust', {
      hint: 'give --key <file>: the .pub that rungate receipt keygen wrote; repeat --key for several',
    });
  return Promise.all(
    paths.map(async (path) => {
      filled('--key', path);
      const pem = new TextDecoder().decode(await readReceipt(io, 'key', path));
      try {
        return { path, ...readPublicKey(pem) };
      } catch (error) {
        if (!(error instanceof ReceiptError)) throw error;
        throw new UsageError(`--key ${path}: ${error.message}`, { hint: error.hint });
      }
    }),
  );
}

/** Returns what a function reads from the text of an option. A URL may have a secret, so no error repeats it. */
function readBy<Value>(
  option: string,
  text: string,
  read: (text: string) => Value | null,
  is: string,
): Value {
  const value = read(text);
  if (value !== null) return value;
  const shown = option === '--base-url' ? 'its value' : echoed(text);
  throw new UsageError(`${option}: ${shown} is not valid`, { hint: `give ${is}` });
}

async function subjectsOf(io: Io, { subject = [], subjectFile = [] }: VerifyFlags) {
  const subjects: SoughtArtifact[] = subject.map((text) =>
    readBy('--subject', text, parseSought, wanted.subject),
  );
  for (const path of subjectFile) {
    filled('--subject-file', path);
    subjects.push({ name: null, sha256: await digestOf(io, '--subject-file', path) });
  }
  return subjects.length === 0 ? undefined : subjects;
}

async function demandsOf(io: Io, flags: VerifyFlags): Promise<Omit<Expected, 'keys'>> {
  const { commit, subject, subjectFile, tag, maxAge, requireDeployed, allowWarned } = flags;
  if (commit === undefined && subject === undefined && subjectFile === undefined)
    throw new UsageError('nothing to compare the receipt with', {
      hint: 'say what this job releases: --commit "$(git rev-parse HEAD)", --subject "$IMAGE@$DIGEST" or --subject-file <file>',
    });
  if (tag !== undefined && flags.process !== undefined)
    throw new UsageError('--process and --tag cannot be combined', {
      hint: 'a run has either a process or tags: give the one that it was started with',
    });
  const baseUrl = filled('--base-url', flags.baseUrl);
  return {
    commit: commit === undefined ? commit : readBy('--commit', commit, wholeCommit, wanted.commit),
    subjects: await subjectsOf(io, flags),
    repository: filled('--repository', flags.repository),
    project: filled('--project', flags.project),
    process: filled('--process', flags.process),
    tags: tag?.flatMap((text) => namesIn('--tag', text)),
    environment: filled('--environment', flags.environment),
    baseUrl: baseUrl === undefined ? baseUrl : readBy('--base-url', baseUrl, plainUrl, wanted.baseUrl),
    requireDeployed,
    maxAgeMs: maxAge === undefined ? undefined : parseDuration('--max-age', maxAge),
    allowWarned,
    now: io.clock.now(),
  };
}

export const receiptVerify = command({
  name: 'verify',
  summary: 'verify receipts against a key and a commit or an image',
  description:
    'Verify receipts: exit 0 if a trusted key signed each one, its runs passed and its facts are as expected, otherwise 1. Works offline.',
  args: { '<file...>': 'receipt, folder with receipts (*.json), or - for standard input' },
  options,
  examples: [
    'rungate receipt verify receipt.json --key ci.pub --commit "$GITHUB_SHA"',
    'rungate receipt verify receipt.json --key ci.pub --subject "$IMAGE@$DIGEST" \\\n  --environment staging --require-deployed --max-age 24h',
    'rungate receipt verify receipts/ --gate web --gate api \\\n  --key ci.pub --commit "$GITHUB_SHA"',
  ],
  decides: true,
  async run(context, { file: files }, flags) {
    const { io } = context;
    const demands = await demandsOf(io, flags);
    const gates = [...new Set(flags.gate)];
    for (const gate of gates) filled('--gate', gate);
    const keys = await readKeys(context, flags.key);
    const { paths, empty, hasFolder } = namedReceipts(io, files);
    const receipts: Verification[] = [];
    for (const path of paths) {
      const { checks, keyId, statement } = examine(await readReceipt(io, '<file>', path), {
        ...demands,
        keys,
      });
      receipts.push({
        path,
        gate: statement === null ? null : (factsOf(statement).gate ?? null),
        checks,
        failures: checks.filter(({ status }) => status === 'failed'),
        keyId,
        key: keys.find(({ id }) => id === keyId)?.path ?? null,
        statement,
      });
    }
    const passed = receipts.filter(({ failures }) => failures.length === 0);
    const missing = gates.filter((name) => passed.every(({ gate }) => gate !== name));
    const verified =
      receipts.length > 0 && passed.length === receipts.length && empty.length === 0 && missing.length === 0;
    const isOne = receipts.length === 1 && !hasFolder && gates.length === 0;
    await printVerification(context, { verified, receipts, missing, empty, isOne });
    return verified ? exitCodes.ok : exitCodes.failed;
  },
});
