import type { Command } from 'commander';
import { UsageError } from '../errors.ts';
import type { SomeSettings } from '../settings/names.ts';
import { echoed, nearest } from '../suggest.ts';
import { completes } from './completion/completes.ts';

/** The options that every command accepts, before and after its name. */
export interface GlobalOptions {
  apiUrl?: string;
  config?: string;
  profile?: string;
  auth?: string;
  format?: string;
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  caFile?: string;
  insecureHttp?: boolean;
  requestTimeout?: string;
}

const authKinds = ['bearer', 'key'] as const;
const formats = ['table', 'json', 'ndjson'] as const;

export function addGlobals(command: Command): Command {
  // A group that is also a command already has them.
  if (command.options.some((option) => option.long === '--api-url')) return command;
  command
    .optionsGroup('Global options:')
    .option('--api-url <url>', 'base URL of the service (RUNGATE_API_URL)')
    .option('--config <file>', 'project file, or none (RUNGATE_CONFIG)')
    .option('--profile <name>', 'profile to use (RUNGATE_PROFILE)')
    .option('--auth <kind>', 'bearer or key, for endpoints that accept either')
    .option('--format <format>', 'table, json or ndjson')
    .option('--json', 'short for --format json')
    .option('-q, --quiet', 'print only the result, warnings and errors')
    .option('-v, --verbose', 'trace requests on stderr, show refused responses')
    .option('--ca-file <file>', 'additional trusted certificate authorities (PEM)')
    .option('--insecure-http', 'allow http: to hosts other than this machine')
    .option('--request-timeout <duration>', 'timeout of one attempt (default 30s)')
    .helpOption('-h, --help', 'show this help');
  completes(command, '--profile', { from: 'profiles' });
  completes(command, '--auth', authKinds);
  return completes(command, '--format', formats);
}

/** Returns the value if it is one of the allowed ones. */
export function oneOf<const Word extends string>(
  option: string,
  words: readonly Word[],
  given: string,
): Word {
  const found = words.find((word) => word === given);
  if (found !== undefined) return found;
  const near = nearest(given, words);
  throw new UsageError(`${option}: ${echoed(given)} is not one of ${words.join(', ')}`, {
    hint: near === null ? undefined : `did you mean ${near}?`,
  });
}

/** Returns the value unless it is empty. */
export function filled(option: string, value: string | undefined): string | undefined {
  if (value !== undefined && value.trim() === '') {
    throw new UsageError(`${option} is empty`, { hint: `give ${option} a value, or leave it out` });
  }
  return value;
}

/** Returns the settings from the global options. */
export function globalSettings(options: GlobalOptions): SomeSettings {
  const { apiUrl, auth, format, json, caFile } = options;
  if (json === true && format !== undefined && format !== 'json') {
    throw new UsageError(`--json and --format ${format} cannot be combined`, { hint: 'give one of them' });
  }
  const chosen = json === true ? 'json' : format;
  return {
    apiUrl: filled('--api-url', apiUrl),
    auth: auth === undefined ? undefined : oneOf('--auth', authKinds, auth),
    format: chosen === undefined ? undefined : oneOf('--format', formats, chosen),
    caFile: filled('--ca-file', caFile),
  };
}
