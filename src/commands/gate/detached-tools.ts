import { ConfigError, CredentialError } from '../../errors.ts';
import type { DetachedNames } from '../../gate/detached/entry.ts';
import { openGitHub, usualApi } from '../../gate/detached/github.ts';
import { openDetachedHub } from '../../gate/detached/hub-calls.ts';
import { seal, unseal } from '../../gate/detached/seal.ts';
import type { Io } from '../../host/io.ts';
import type { Flags } from '../../options/table.ts';
import type { Settings } from '../../settings/names.ts';
import { emptySecretHints, withheldSecretHint } from '../config/credential-guard.ts';
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
export async function openDetached(io: Io, flags: Flags, settings: Settings) {
  const nameOf = namesFrom(settings, emptySecretHints(io));
  const options = await hubOptionsOf(io, flags, settings);
  if (options === null)
    throw new ConfigError('a detached gate needs a hub, which keeps it and starts the job that decides', {
      hint: withheldSecretHint(io) ?? `set ${nameOf('hub.url')}; how to run a hub: rungate hub --help`,
    });
  const { apiKey, githubToken } = settings;
  if (apiKey === undefined) throw new CredentialError('the API key is not set', { hint: nameOf('give.key') });
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
  return {
    hub,
    github,
    /** Returns the gate as only this key can read it. */
    sealed: (gate: StoredGate, names: DetachedNames): string =>
      seal(stateText({ ...emptyState(), gates: { [gate.id]: gate } }), apiKey.value, names),
    /** Returns null for a gate that was sealed with another key or for other names. */
    unsealed(text: string, names: DetachedNames): (ResumedGate & { detached: DetachedNames }) | null {
      const opened = unseal(text, apiKey.value, names);
      const stored = opened === null ? null : parseState(opened);
      const gate = stored?.gates[names.id];
      return stored === null || gate === undefined ? null : { stored, gate, detached: names };
    },
    async close() {
      await hub.close();
      await github.close();
    },
  };
}

export type Detached = Awaited<ReturnType<typeof openDetached>>;
