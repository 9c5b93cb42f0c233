import { detectCi } from '../../ci/provider.ts';
import { ConfigError, CredentialError, type NameOf, RungateError } from '../../errors.ts';
import { type DetachedNames, isSame } from '../../gate/detached/entry.ts';
import { openGitHub, usualApi } from '../../gate/detached/github.ts';
import { openDetachedHub } from '../../gate/detached/hub-calls.ts';
import { seal, unseal } from '../../gate/detached/seal.ts';
import { describedAs, isOf } from '../../gate/detached/steps.ts';
import type { Io } from '../../host/io.ts';
import type { Flags } from '../../options/table.ts';
import type { Settings } from '../../settings/names.ts';
import { emptySecretHints, withheldSecretHint } from '../config/credential-guard.ts';
import { loadSettings } from '../config/sources.ts';
import { hubOptionsOf } from '../connect.ts';
import { namesFrom } from '../source-names.ts';
import { emptyState, parseState, type ResumedGate, type StoredGate, stateText } from './store.ts';

/** A job is one process: a text that only it has, by which the hub knows it. */
const jobs = new WeakMap<Io, string>();
export function jobIn(io: Io): string {
  const job = jobs.get(io) ?? crypto.randomUUID();
  jobs.set(io, job);
  return job;
}

/** Opens the hub and GitHub for a job. @throws ConfigError or CredentialError if one of them is not set */
async function openWays(io: Io, flags: Flags, settings: Settings) {
  const nameOf = namesFrom(settings, emptySecretHints(io));
  const options = await hubOptionsOf(io, flags, settings);
  if (options === null)
    throw new ConfigError('a detached gate needs a hub, which keeps it and starts the job that decides', {
      hint: withheldSecretHint(io) ?? `set ${nameOf('hub.url')}; how to run a hub: rungate hub --help`,
    });
  const { githubToken } = settings;
  if (githubToken === undefined)
    throw new CredentialError('no token of GitHub is set, and a detached gate sets a commit status', {
      hint: `set ${nameOf('githubToken')}: \${{ github.token }} in a job with the permission statuses: write`,
    });
  const { caPem, proxyEnv } = options;
  const hub = openDetachedHub({ ...options, clock: io.clock, nameOf });
  const github = openGitHub({
    url: io.env.GITHUB_API_URL || usualApi,
    token: githubToken.value,
    caPem,
    proxyEnv,
    clock: io.clock,
    nameOf,
  });
  const close = async () => {
    await hub.close();
    await github.close();
  };
  return { hub, github, nameOf, close };
}

/** Opens the hub and GitHub for a job that has the API key. @throws ConfigError or CredentialError if one of them is not set */
export async function openDetached(io: Io, flags: Flags, settings: Settings) {
  const { nameOf, ...ways } = await openWays(io, flags, settings);
  return { ...ways, ...sealsOf(settings, nameOf) };
}

/** Returns how gates are sealed. @throws CredentialError without an API key */
function sealsOf({ apiKey }: Settings, nameOf: NameOf) {
  if (apiKey === undefined) throw new CredentialError('the API key is not set', { hint: nameOf('give.key') });
  return {
    /** Returns the gate as only this key can read it. */
    sealed: (gate: StoredGate, names: DetachedNames): string =>
      seal(stateText({ ...emptyState(), gates: { [gate.id]: gate } }), apiKey.value, names),
    /** Returns null for a gate that was sealed with another key or for other names, or by another version of rungate. */
    unsealed(text: string, names: DetachedNames): Pick<ResumedGate, 'stored' | 'gate'> | null {
      const opened = unseal(text, apiKey.value, names);
      try {
        const stored = opened === null ? null : parseState(opened);
        const gate = stored?.gates[names.id];
        return stored === null || gate === undefined ? null : { stored, gate };
      } catch {
        return null;
      }
    },
  };
}

/** Returns the gate that the hub keeps. From here on no other job goes on with it. @throws RungateError */
export async function fetchGate(io: Io, id: string): Promise<ResumedGate> {
  const { settings } = await loadSettings(io, {}, {});
  const { hub, nameOf, close } = await openWays(io, {}, settings);
  try {
    const { sealed, ...names } = await hub.fetch({ id, job: jobIn(io) });
    const { repository } = detectCi(io.env);
    if (names.id !== id || !isSame(repository ?? '', String(names.repository)))
      throw new ConfigError(`--resume: gate ${id} is not one of ${repository ?? 'this repository'}`, {
        hint: 'run it in the workflow of the repository whose gate it is',
      });
    return await orError(io, names, async () => {
      const gate = sealsOf(settings, nameOf).unsealed(sealed, names);
      if (gate !== null) return { ...gate, detached: names };
      throw new ConfigError(`--resume: the state of gate ${id} was made with another API key, or changed`, {
        hint: 'give this workflow the API key of the job that started the gate, or re-run that job',
      });
    });
  } finally {
    await close();
  }
}

/** Continues a gate. One that no job can continue gets the commit status `error` after its timeout: it must not stay pending. */
export async function orError<Value>(
  io: Io,
  gate: ResumedGate['detached'],
  work: () => Promise<Value>,
): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RungateError && gate?.overdue) await endAsError(io, gate).catch(() => {});
    throw error;
  }
}

async function endAsError(io: Io, names: DetachedNames): Promise<void> {
  const { id } = names;
  const { settings } = await loadSettings(io, {}, {});
  const { hub, github, close } = await openWays(io, {}, settings);
  try {
    const job = jobIn(io);
    const { sealed } = await hub.fetch({ id, job });
    const { older } = await hub.decide({ id, job });
    if (!isOf(await github.statusOf(names), [id, ...older])) return;
    const status = { state: 'error', description: describedAs('the job could not continue', id) } as const;
    await github.setStatus(names, status, detectCi(io.env).buildUrl);
    await hub.save({ id, job, sealed, runs: [], endsInMs: 0, done: true, released: false });
  } finally {
    await close();
  }
}

/** Sets the commit status of a gate that could not begin: an older success of the commit must not stand for it. */
export async function failEarly(io: Io, settings: Settings, names: DetachedNames): Promise<void> {
  const { githubToken } = settings;
  if (githubToken === undefined) return;
  const { clock, env } = io;
  const nameOf = namesFrom(settings);
  const url = env.GITHUB_API_URL || usualApi;
  const github = openGitHub({ url, token: githubToken.value, proxyEnv: env, clock, nameOf });
  try {
    const status = {
      state: 'error',
      description: describedAs('the gate could not begin', names.id),
    } as const;
    await github.setStatus(names, status, detectCi(env).buildUrl);
  } catch {
  } finally {
    await github.close();
  }
}

export type Detached = Awaited<ReturnType<typeof openDetached>>;
