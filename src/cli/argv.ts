import { UsageError } from '../errors.ts';
import type { Format } from '../output/output.ts';

/** Options for secrets with the variables to use instead, which rungate refuses: every process on the machine can read a command line. */
const secretFlags: Readonly<Record<string, string>> = {
  '--api-key': 'RUNGATE_API_KEY',
  '--token': 'RUNGATE_TOKEN',
  '--bearer': 'RUNGATE_TOKEN',
  '--secret': 'RUNGATE_WEBHOOK_SECRET',
  '--webhook-secret': 'RUNGATE_WEBHOOK_SECRET',
  '--tenant-secret': 'RUNGATE_TENANT_SECRET',
  '--receipt-key': 'RUNGATE_RECEIPT_KEY',
  '--hub-token': 'RUNGATE_HUB_TOKEN',
  '-H': 'RUNGATE_HEADERS',
  '--header': 'RUNGATE_HEADERS',
  '--headers': 'RUNGATE_HEADERS',
};

/** Returns the arguments before `--`; the rest belongs to another command. */
export function ownArguments(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
}

/** Matches an option strictly enough that a secret does not pass for one. */
const anotherOption = /^(?:-[a-zA-Z]|--[a-z]+(?:-[a-z]+)*(?:=.*)?)$/;

/** Whether an option has no value, as in `login --api-key`, which only selects the kind of secret. */
function hasNoValue(args: readonly string[], index: number): boolean {
  const next = args[index + 1];
  return !args[index]?.includes('=') && (next === undefined || anotherOption.test(next));
}

/** Refuses secrets on the command line before any message could repeat them. */
export function refuseSecrets(argv: readonly string[]): void {
  const args = ownArguments(argv);
  const command = args.find((argument) => argument === 'login' || argument === 'logout');
  for (const [index, argument] of args.entries()) {
    const flag = argument.split('=')[0] ?? '';
    const known = flag === '--token' && args.includes('hub') ? '--hub-token' : flag;
    const instead = Object.hasOwn(secretFlags, known) ? secretFlags[known] : undefined;
    if (instead === undefined) continue;
    if (command !== undefined && hasNoValue(args, index)) continue;
    if (command !== undefined) {
      throw new UsageError(
        `${flag} takes no value, because any process could read a secret on the command line`,
        {
          hint:
            command === 'logout'
              ? `write rungate logout ${flag}`
              : `type the secret at the prompt, or pipe it: rungate login ${flag} < file`,
        },
      );
    }
    throw new UsageError(
      `there is no option ${flag}, because any process could read a secret on the command line`,
      { hint: `set ${instead} or ${instead}_FILE in the environment instead` },
    );
  }
}

/** Whether errors show the response, even if the command line cannot be parsed. */
export function isVerbose(argv: readonly string[]): boolean {
  return ownArguments(argv).some((argument) => argument === '--verbose' || /^-q*v/.test(argument));
}

/** Returns the format for errors, even if the command line cannot be parsed. */
export function formatAtFirstSight(argv: readonly string[]): Format {
  const args = ownArguments(argv);
  const formats = args.flatMap((word, at) => {
    const [name, value = args[at + 1]] = word.split('=');
    return name === '--format' ? [value] : [];
  });
  const format = formats.at(-1);
  if (args.includes('--json') || format === 'json') return 'json';
  return format === 'ndjson' ? 'ndjson' : 'plain';
}
