import type { CiContext } from '../../ci/context.ts';
import type { TriggerBody } from '../../contract/run.ts';
import { UsageError } from '../../errors.ts';
import type { StartingGate } from '../../gate/plan/plan.ts';
import { newSavedPlan } from '../../gate/plan/saved.ts';
import { type Flags, groupOf, isSecretId, type OptionId, rowOf } from '../../options/table.ts';
import type { Redact } from '../../redact.ts';
import type { Setting, Settings } from '../../settings/names.ts';
import type { Context } from '../context.ts';
import { givenOptions } from '../options.ts';
import { hashOf, locationOf, type SavedSettings, type StoredGate } from './store.ts';

/** Returns the settings without secrets, and without URLs whose query may have one. */
function savedSettings(settings: Settings, redact: Redact): SavedSettings {
  const isKept = ([id, setting]: [string, Setting<unknown>]) => {
    const text = JSON.stringify(setting);
    const hasQuery = rowOf(id as OptionId).type.kind === 'url' && text.includes('?');
    return !isSecretId(id) && !hasQuery && redact(text) === text;
  };
  const all = Object.entries(settings);
  const withheld = all.filter((entry) => !isKept(entry)).map(([id]) => id);
  return { values: Object.fromEntries(all.filter(isKept)), withheld };
}

/** Returns the stored settings, with the secrets of this command. */
export function restored({ values, withheld }: SavedSettings, now: Settings): Settings {
  const secrets = Object.entries(now).filter(([id]) => isSecretId(id) || withheld.includes(id));
  const settings: Settings = { ...Object.fromEntries(secrets), ...values };
  const { maxAttempts } = settings;
  // JSON has no infinity.
  return maxAttempts?.value === null
    ? { ...settings, maxAttempts: { ...maxAttempts, value: Number.POSITIVE_INFINITY } }
    : settings;
}

const keeps = ({ detach }: Flags) => (detach ? '--detach' : '--slice');

function without({ config: _config, profile: _profile, ...flags }: Flags): Flags {
  return flags;
}

/** Returns the options that are stored. @throws UsageError for one that has a secret, or may have one */
function storedFlags({ flags, sources, output }: Context): Flags {
  const { resume: _resume, new: _new, explainKey: _explain, ...kept } = flags;
  const pages: readonly unknown[] = [flags.deployedUrl, flags.baseUrl, flags.readyUrl];
  for (const [name, value] of Object.entries(kept)) {
    const text = JSON.stringify(value) ?? '';
    const hasQuery = pages.includes(value) && text.includes('?');
    if (output.redact(text) === text && !hasQuery && !/:\/\/[^/?#]*@/.test(text)) continue;
    const [option = name] = givenOptions({ [name]: value }, () => true);
    throw new UsageError(
      `${option} contains a secret, or a query that may be one, and ${keeps(flags)} would store it`,
      {
        hint: 'set it in the environment or in .rungate.json, where the next command reads it again',
      },
    );
  }
  // The job that goes on with a detached gate has neither the files of this one nor its user.
  if (flags.detach === true) return without(kept);
  const { name, by } = sources.profile;
  return by === null ? kept : { ...kept, profile: name };
}

/** Returns the body with the environment of the settings: the key of a preview's environment is random outside CI. */
function askedBody({ start: { body, preview } }: StartingGate): TriggerBody {
  return preview === undefined ? body : { ...body, environmentKey: preview.model ?? undefined };
}

/** Returns the gate as a first command stores it, without its account. @throws UsageError */
export function newEntry(
  context: Context,
  ci: CiContext,
  planned: readonly StartingGate<Settings>[],
): StoredGate {
  const { io, flags, settings, output } = context;
  const { redact } = output;
  const kept = storedFlags(context);
  const { url, pointer, is } = groupOf(settings, 'deployed');
  // An earlier slice compared the page with this build, and the receipt is about it.
  const build = [url, pointer, is, settings['receipt.subjects']].map((setting) => setting?.value);
  const bodies = planned.map((gate) => [
    ...[gate.name, askedBody(gate)],
    ...[gate.start.preview?.baseUrl, gate.start.preview?.copyVariables],
  ]);
  const rules = planned.map(({ needs, advisory, rules: { policy, ...limits } }) => [
    ...[needs, advisory, Object.entries(policy).toSorted(), Object.entries(limits).toSorted()],
  ]);
  const { idempotencyKey, idempotencySalt, failFast, cancelOnTimeout, cancelOnInterrupt } = flags;
  const [location, apiUrl] = [locationOf(io, ci), settings.apiUrl?.value ?? ''];
  const gates = planned.map((gate) => {
    const { name, needs, advisory } = gate;
    const body = askedBody(gate);
    if (redact(JSON.stringify(body)) !== JSON.stringify(body))
      throw new UsageError(
        `the request that creates the run contains a secret, and ${keeps(flags)} would store it`,
        {
          hint: `remove the secret from the options that describe the run, or leave out ${keeps(flags)}`,
        },
      );
    return [name, { needs, advisory, settings: savedSettings(gate.settings, redact), body }];
  });
  return {
    ...newSavedPlan(planned, io.clock.now()),
    location,
    apiUrl,
    account: '',
    identity: hashOf(location, apiUrl, build, bodies, idempotencyKey, idempotencySalt),
    rules: hashOf(rules, failFast, cancelOnTimeout, cancelOnInterrupt),
    command: {
      cwd: io.cwd,
      flags: kept,
      settings: savedSettings(settings, redact),
      gates: Object.fromEntries(gates),
    },
  };
}
