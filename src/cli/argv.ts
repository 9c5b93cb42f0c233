import { UsageError } from '../errors.ts';
import type { Format } from '../output/output.ts';

/** What would put a secret on the command line, where every process of the machine can read it. */
const secretFlags: Readonly<Record<string, string>> = {
  '--api-key': 'RUNGATE_API_KEY or RUNGATE_API_KEY_FILE',
  '--token': 'RUNGATE_TOKEN or RUNGATE_TOKEN_FILE',
  '--bearer': 'RUNGATE_TOKEN or RUNGATE_TOKEN_FILE',
  '--secret': 'RUNGATE_WEBHOOK_SECRET or RUNGATE_WEBHOOK_SECRET_FILE',
  '--webhook-secret': 'RUNGATE_WEBHOOK_SECRET or RUNGATE_WEBHOOK_SECRET_FILE',
  '--tenant-secret': 'RUNGATE_TENANT_SECRET or RUNGATE_TENANT_SECRET_FILE',
};

/** The words that are ours: what follows `--` belongs to another command. */
function ownWords(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
}

/** What may follow a flag without a value: nothing, or another flag, so that no secret passes for one. */
const anotherFlag = /^(?:-[hqv]|--[a-z]+(?:-[a-z]+)*(?:=.*)?)$/;

/** `login --api-key`, `logout --api-key`: only names the kind of secret, which is read elsewhere. */
function isBareFlag(words: readonly string[], index: number): boolean {
  const next = words[index + 1];
  return !words[index]?.includes('=') && (next === undefined || anotherFlag.test(next));
}

/** Refuses secrets on the command line, before anything could repeat them in a message. */
export function refuseSecrets(argv: readonly string[]): void {
  const words = ownWords(argv);
  const named = words.find((word) => word === 'login' || word === 'logout');
  for (const [index, word] of words.entries()) {
    const flag = word.split('=')[0] ?? '';
    const instead = Object.hasOwn(secretFlags, flag) ? secretFlags[flag] : undefined;
    if (instead === undefined) continue;
    if (named !== undefined && isBareFlag(words, index)) continue;
    if (named !== undefined) {
      throw new UsageError(
        `${flag} takes no value: a secret on the command line can be read by every process`,
        {
          hint:
            named === 'logout'
              ? `write rungate logout ${flag}`
              : `type it when asked, or pipe it: rungate login ${flag} < file`,
        },
      );
    }
    throw new UsageError(`there is no ${flag}: a secret on the command line can be read by every process`, {
      hint: `set ${instead} in the environment instead`,
    });
  }
}

/** Whether errors show the response that they are about. */
export function isVerbose(argv: readonly string[]): boolean {
  return ownWords(argv).some((word) => word === '--verbose' || (/^-[qv]+$/.test(word) && word.includes('v')));
}

/** The format that errors are written in when the command line itself cannot be understood. */
export function formatAtFirstSight(argv: readonly string[]): Format {
  const words = ownWords(argv);
  const after = words[words.indexOf('--format') + 1];
  const format = words.includes('--format') ? after : words.find((w) => w.startsWith('--format='))?.slice(9);
  if (words.includes('--json') || format === 'json') return 'json';
  return format === 'ndjson' ? 'ndjson' : 'plain';
}
