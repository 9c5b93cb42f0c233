import { ConfigError, UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { type BudgetLimits, usualBudget } from '../../hub/ledger.ts';
import { defaultPrefix } from '../../hub/redis.ts';
import { parseRedisUrl, passwordsOf, type RedisAddress } from '../../hub/redis-address.ts';
import { readSecret } from '../../settings/environment.ts';
import type { Settings } from '../../settings/names.ts';
import { echoed, instead } from '../../suggest.ts';
import { filled } from '../options.ts';

const mostPerMinute = 10_000;
const limitNames = Object.keys(usualBudget) as (keyof BudgetLimits)[];

/** Reads `reads=48,creates=16,requests=80`. A missing limit has its default. */
export function budgetOf(text: string | undefined): BudgetLimits {
  const limits = { ...usualBudget };
  const seen = new Set<string>();
  for (const part of filled('--budget', text)?.split(',') ?? []) {
    const [, typed = part, value = ''] = /^([^=]*)=(.*)$/.exec(part.trim()) ?? [];
    const name = limitNames.find((known) => known === typed);
    if (name === undefined) {
      throw new UsageError(`--budget: ${echoed(typed)} is not one of ${limitNames.join(', ')}`, {
        hint: `${instead(typed, limitNames)}; an example is reads=48,creates=16,requests=80`,
      });
    }
    if (!/^\d{1,5}$/.test(value) || Number(value) < 1 || Number(value) > mostPerMinute) {
      throw new UsageError(`--budget: ${name} must be a whole number from 1 to ${mostPerMinute}`, {
        hint: `write the requests per minute, as in ${name}=${usualBudget[name]}`,
      });
    }
    if (seen.has(name)) throw new UsageError(`--budget: ${name} is given twice`, { hint: 'give it once' });
    seen.add(name);
    limits[name] = Number(value);
  }
  return limits;
}

/** Without `--hubs`, there may be another hub. */
const usualHubs = 2;

/** Returns how many hubs share a Redis. */
export function hubCountOf(text: string | undefined): number {
  const hubs = filled('--hubs', text) ?? String(usualHubs);
  if (/^[1-9]\d?$/.test(hubs)) return Number(hubs);
  throw new UsageError(`--hubs must be a whole number from 1 to 99, not ${echoed(hubs)}`, {
    hint: 'write how many hubs share Redis',
  });
}

const redisVariable = 'RUNGATE_HUB_REDIS_URL';

/** Returns the URL of Redis, or null for a hub without it. Errors never repeat the URL, which may have a password. */
export function redisUrlOf({ env, readFile }: Pick<Io, 'env' | 'readFile'>, flag?: string): string | null {
  const option = filled('--redis', flag);
  const text = option ?? readSecret(env, redisVariable, readFile);
  if (text === undefined) return null;
  const [name, ErrorClass] =
    option === undefined ? ([redisVariable, ConfigError] as const) : (['--redis', UsageError] as const);
  let address: RedisAddress | null;
  try {
    address = parseRedisUrl(text);
  } catch {
    throw new ErrorClass(`${name} has an invalid percent-encoding`, {
      hint: 'write % as %25 in the user name, the password and the name of the master',
    });
  }
  if (option !== undefined && (address === null ? /@|password/i.test(text) : passwordsOf(text).length > 0)) {
    throw new UsageError(
      '--redis must not have a password, because any process could read it on the command line',
      {
        hint: `set the whole URL as ${redisVariable}, or ${redisVariable}_FILE to the file with the URL`,
      },
    );
  }
  if (address === null) {
    throw new ErrorClass(`${name} is not the URL of a Redis server`, {
      hint: `write ${name} as redis://host:6379, or as redis-sentinel://host1:26379,host2:26379#master for Sentinel; rediss for TLS; a number after the host selects the database, as in redis://host:6379/1`,
    });
  }
  return text;
}

const prefixVariable = 'RUNGATE_HUB_REDIS_PREFIX';

/** Returns the beginning of all keys in Redis. */
export function redisPrefixOf({ env }: Pick<Io, 'env'>, flag?: string): string {
  const option = filled('--redis-prefix', flag);
  const prefix = option ?? (env[prefixVariable] || defaultPrefix);
  if (/^[\w.:-]{1,64}$/.test(prefix)) return prefix;
  const [name, ErrorClass] =
    option === undefined
      ? ([prefixVariable, ConfigError] as const)
      : (['--redis-prefix', UsageError] as const);
  throw new ErrorClass(`${name} is not a prefix for keys: ${echoed(prefix)}`, {
    hint: 'use up to 64 letters, digits, and the characters _ . : -',
  });
}

/** A shorter token could be guessed. */
const shortestToken = 16;

export function checkedTokens({ hubTokens }: Settings): readonly string[] {
  const hint = 'make one with openssl rand -hex 32, and give the same one to the gates';
  if (hubTokens === undefined) {
    throw new ConfigError('hub: no token for gates is set', {
      hint: `set RUNGATE_HUB_TOKEN, or RUNGATE_HUB_TOKEN_FILE to the file with the token; ${hint}`,
    });
  }
  const { value, detail } = hubTokens;
  for (const [index, token] of value.entries()) {
    const which = `token ${index + 1} of ${value.length} in ${detail ?? 'RUNGATE_HUB_TOKEN'}`;
    if (!/^[\x21-\x7e]*$/.test(token))
      throw new ConfigError(`hub: ${which} has a space or a character that is not ASCII`, { hint });
    if (token.length < shortestToken)
      throw new ConfigError(`hub: ${which} has fewer than ${shortestToken} characters`, { hint });
  }
  return value;
}
