import type { Caller } from '../../client/caller.ts';
import type { Listed } from '../../client/environments.ts';
import type { Clock } from '../../clock.ts';
import { formatDuration, parseDuration } from '../../duration.ts';
import { ConfigError, RungateError, UsageError } from '../../errors.ts';
import { exitCodeOf, exitCodes, mostSevere } from '../../exit.ts';
import { parseUrl } from '../../parse-url.ts';
import { deleteEnvironment, ownEnvironments } from '../../preview/environments.ts';
import { createdAt } from '../../preview/mark.ts';
import { withServiceClock } from '../../preview/service-clock.ts';
import { bareUrl } from '../../transport/address.ts';
import { command } from '../spec.ts';
import { confirm } from './call-endpoint.ts';

const usualAge = '1d';

/** Returns the facts about an environment that may be shown: the query of its URL may have a secret. */
function factsOf(environment: Listed) {
  const { id = null, key = '', baseUrl = '' } = environment;
  const url = parseUrl(baseUrl);
  return {
    id,
    key,
    baseUrl: url === null ? null : bareUrl(url),
    createdAt: new Date(createdAt(environment) ?? 0).toISOString(),
  };
}

/** @throws UsageError without a unit: `1` would be one second, and delete environments in use */
function minimumAge(text: string): number {
  const ms = parseDuration('--older-than', text);
  if (/\d$/.test(text.trim()))
    throw new UsageError(`--older-than: "${text.trim()}" has no unit`, {
      hint: `write the unit, as in ${text.trim()}d or ${text.trim()}h`,
    });
  return ms;
}

/** The clocks may differ by this time, in milliseconds. */
const skewMs = 5 * 60_000;

/** Returns the time by the clock that is behind. @throws ConfigError unless both clocks agree: one of them says how old environments are */
function earlierTime(now: number, aheadMs: number | null): number {
  const nothing = 'so rungate deletes nothing';
  if (aheadMs === null)
    throw new ConfigError(`the service's responses have no valid Date header, ${nothing}`, {
      hint: 'without that header, the age of environments is unknown; a proxy may remove it: see rungate doctor',
    });
  if (Math.abs(aheadMs) <= skewMs) return now + Math.min(0, aheadMs);
  const by = `${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'behind' : 'ahead of'}`;
  throw new ConfigError(`this machine's clock is ${by} the service's clock, ${nothing}`, {
    hint: 'correct the clock, for example with NTP, and run the command again',
  });
}

/** Returns the environments that both clocks call old. @throws ConfigError if the clocks differ, and there is anything to judge */
async function ownOlderThan(ageMs: number, given: Caller, clock: Clock): Promise<Listed[]> {
  const { caller, aheadMs } = withServiceClock(given, clock);
  const own = await ownEnvironments(caller);
  if (own.length === 0) return [];
  const before = earlierTime(clock.now(), aheadMs()) - ageMs;
  return own.filter(([at]) => at <= before).map(([, environment]) => environment);
}

const isSame = (a: Listed) => (b: Listed) => a.id === b.id && a.key === b.key && a.name === b.name;

/** Deletes the environments that gates have left. Nothing without a key and a name that only rungate gives. */
export const envPrune = command({
  name: 'prune',
  summary: 'delete the environments that stopped gates left behind',
  description:
    'Delete the environments that rungate gate --base-url created and could not delete, and no others. This cannot be undone, and requires confirmation or --yes.\nCredential: a bearer token (RUNGATE_TOKEN).',
  options: {
    '--older-than <duration>': `minimum age: runs may still use a younger environment (default ${usualAge})`,
    '-y, --yes': 'skip the confirmation',
  },
  examples: ['rungate env prune --older-than 1d --yes'],
  async run(context, _args, flags) {
    const { io, output } = context;
    const ageMs = minimumAge(flags.olderThan ?? usualAge);
    const age = formatDuration(ageMs);
    const caller = await context.connect();
    const found = await ownOlderThan(ageMs, caller, io.clock);
    if (found.length > 0 && flags.yes !== true) {
      for (const environment of found) {
        const { key, baseUrl, createdAt } = factsOf(environment);
        await output.alert(output.excerpt(`${key}  ${createdAt}  ${baseUrl ?? ''}`, 500));
      }
      const many = found.length === 1 ? 'this environment' : `these ${found.length} environments`;
      if (!(await confirm(context, `delete ${many}, which rungate created more than ${age} ago`, false))) {
        await output.alert('nothing was done');
        return exitCodes.failed;
      }
    }
    // A person may take a while to answer.
    const now =
      flags.yes === true || found.length === 0 ? found : await ownOlderThan(ageMs, caller, io.clock);
    const environments = [];
    const codes: number[] = [];
    for (const environment of now.filter((one) => found.some(isSame(one)))) {
      let error: string | null = null;
      try {
        await deleteEnvironment(environment, caller, { pace: true });
      } catch (caught) {
        if (!(caught instanceof RungateError)) throw caught;
        error = caught.message;
        codes.push(exitCodeOf(caught));
      }
      environments.push({ ...factsOf(environment), deleted: error === null, error });
    }
    const rows = environments.map(({ key, createdAt, baseUrl, error }) =>
      [key, createdAt, baseUrl ?? '-', error ?? 'deleted'].map((text) => output.excerpt(text, 500)),
    );
    const table = { head: ['KEY', 'CREATED', 'BASE URL', 'STATUS'], rows };
    await output.data({ schemaVersion: 1, environments }, table);
    if (found.length === 0) await output.note(`rungate created no environment more than ${age} ago`);
    return mostSevere(codes);
  },
});
