import { dirname, isAbsolute, join } from 'node:path';
import type { Command } from 'commander';
import * as z from 'zod/mini';
import { ConfigError, UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { readProblem } from '../../host/read-file.ts';
import { InvalidValue, readType } from '../../options/read.ts';
import { duration, filledList, items, type OptionType, onOff, text } from '../../options/types.ts';
import { plainUrl } from '../../receipt/base-url.ts';
import { type JsonFile, readJson } from '../../settings/json-file.ts';
import { nearest } from '../../suggest.ts';
import { collect, filled, once } from '../options.ts';

interface Demand {
  readonly type: OptionType<unknown>;
  readonly flag: string;
  readonly help: string;
}

const baseUrl: OptionType<string> = {
  ...text,
  schema: z.custom<string>((url) => plainUrl(url) !== null, {
    error: 'expected an http or https URL without user name, query and fragment',
    params: { hint: 'write it like https://pr-7.example.com: a receipt has the base URL without its query' },
  }),
};

/** Facts that a receipt must have: an option of `receipt verify`, and a field of the policy file. */
const demands = {
  keys: {
    type: items,
    flag: '--key <file>',
    help: 'public key to trust, PEM (repeatable: any of them may have signed)',
  },
  gates: { type: items, flag: '--gate <name>', help: 'gate that must have a receipt (repeatable)' },
  repository: { type: text, flag: '--repository <name>', help: 'expected repository' },
  project: { type: text, flag: '-p, --project <slug>', help: 'expected project' },
  process: { type: text, flag: '--process <slug>', help: 'expected process' },
  tags: {
    type: filledList,
    flag: '--tag <tag>',
    help: 'expected tag (repeatable, or separated by commas): exactly these',
  },
  environment: { type: text, flag: '-e, --environment <key>', help: 'expected environment' },
  baseUrl: {
    type: baseUrl,
    flag: '--base-url <url>',
    help: 'expected URL of a preview deployment, without a query',
  },
  requireDeployed: {
    type: onOff,
    flag: '--require-deployed',
    help: 'refuse a receipt whose gate did not check which build was deployed',
  },
  maxAge: {
    type: duration,
    flag: '--max-age <duration>',
    help: 'maximum time since the runs ended, such as 24h (default: any)',
  },
  allowWarned: {
    type: onOff,
    flag: '--allow-warned',
    help: 'also accept WARNED: a run that failed, or passed only on a retry, which the policy let through',
  },
} as const satisfies Readonly<Record<string, Demand>>;

type Name = keyof typeof demands;
/** The demands that are made; a duration in milliseconds. */
export type Demands = {
  [Field in Name]?: (typeof demands)[Field]['type'] extends OptionType<infer Value> ? Value : never;
};

const names = Object.keys(demands) as Name[];
const longOf = (name: Name) => /--[a-z-]+/.exec(demands[name].flag)?.[0] ?? '';
/** Returns commander's name of the option. */
const attributeOf = (name: Name) =>
  longOf(name)
    .slice(2)
    .replace(/-[a-z]/g, (part) => part.slice(1).toUpperCase());

export function addDemands(command: Command): void {
  for (const name of names) {
    const { type, flag, help }: Demand = demands[name];
    if (type.kind === 'list') command.option(flag, help, collect);
    else if (type.kind === 'switch') command.option(flag, help);
    else command.option(flag, help, once(longOf(name)));
  }
}

/** Returns the JSON of a policy file for the values of an option. */
function jsonOf(name: Name, raw: unknown): unknown {
  const { type }: Demand = demands[name];
  if (raw === true) return true;
  const texts = [raw].flat().map((value) => filled(longOf(name), String(value)) ?? '');
  if (type.kind === 'list') return texts.flatMap((value) => type.fromText?.(value) ?? value);
  return texts.at(-1);
}

function fromFlags(flags: Readonly<Record<string, unknown>>): Demands {
  const entries = names.flatMap((name) => {
    const raw = flags[attributeOf(name)];
    if (raw === undefined) return [];
    try {
      return [[name, readType(demands[name].type as OptionType<unknown>, jsonOf(name, raw))]];
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      throw new UsageError(`${longOf(name)}: ${error.message}`, { hint: error.hint });
    }
  });
  return Object.fromEntries(entries);
}

function valueIn(file: JsonFile, name: string, json: unknown): unknown {
  if (!Object.hasOwn(demands, name)) {
    const near = nearest(name, names);
    throw new ConfigError(
      `${file.place([name], 'key')}: unknown field ${JSON.stringify(name.slice(0, 60))}`,
      {
        hint: near === null ? `the fields are ${names.join(', ')}` : `did you mean ${JSON.stringify(near)}?`,
      },
    );
  }
  try {
    return readType(demands[name as Name].type as OptionType<unknown>, json);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw new ConfigError(`${file.place([name, ...error.within])}: ${name}: ${error.message}`, {
      hint: error.hint,
    });
  }
}

/** Reads a policy file. An unknown field would be a demand that is not made. @throws ConfigError or UsageError */
function readPolicy(io: Io, path: string): Demands {
  let bytes: Uint8Array;
  try {
    bytes = io.readFile(path);
  } catch (cause) {
    throw new UsageError(`--policy: cannot read ${path}: ${readProblem(cause)}`, {
      hint: 'pass the path of a file that you may read',
      cause,
    });
  }
  const file = readJson(path, bytes);
  const { value } = file;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ConfigError(`${file.place([])}: expected an object`, {
      hint: `write an object with the fields ${names.join(', ')}`,
    });
  const policy: Demands = Object.fromEntries(
    Object.entries(value).map(([name, json]) => [name, valueIn(file, name, json)]),
  );
  if (policy.keys === undefined)
    throw new ConfigError(`${file.place([])}: "keys" is missing`, {
      hint: 'name the public keys that may sign; otherwise the command line could name any',
    });
  if (policy.tags !== undefined && policy.process !== undefined)
    throw new ConfigError(`${file.place(['tags'], 'key')}: "process" and "tags" cannot be combined`, {
      hint: 'remove one of them',
    });
  const pathOf = (key: string) => (isAbsolute(key) ? key : join(dirname(path), key));
  // A lone dash would be standard input.
  return { ...policy, keys: policy.keys.map((key) => (pathOf(key) === '-' ? './-' : pathOf(key))) };
}

/**
 * Returns the demands of the options and of the policy file. An option cannot replace a field of the file: who runs the command
 * may not be who decides.
 * @throws ConfigError or UsageError
 */
export function demandsOf(io: Io, flags: Readonly<Record<string, unknown>>): Demands {
  const own = fromFlags(flags);
  const path = flags.policy as string | undefined;
  const policy = path === undefined ? {} : readPolicy(io, filled('--policy', path) ?? '');
  const twice = names.find((name) => own[name] !== undefined && policy[name] !== undefined);
  if (twice !== undefined)
    throw new UsageError(`${longOf(twice)} is also set in ${path}`, {
      hint: 'remove the option: the policy file decides',
    });
  if (path !== undefined && own.allowWarned === true)
    throw new UsageError('--allow-warned has no effect with --policy: only the policy file can allow that', {
      hint: `remove the option, or have "allowWarned": true written into ${path}`,
    });
  const all = { ...policy, ...own };
  if (all.tags !== undefined && all.process !== undefined)
    throw new UsageError('--process and --tag cannot be combined', {
      hint: 'a run has either a process or tags: give the one that it was started with',
    });
  return all;
}
