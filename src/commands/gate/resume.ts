import { detectCi } from '../../ci/provider.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { type Flags, flagName, type OptionRow, rows } from '../../options/table.ts';
import type { SomeSettings } from '../../settings/names.ts';
import { echoed } from '../../suggest.ts';
import type { Context } from '../context.ts';
import { argumentsOf, givenOptions, readValues } from '../options.ts';
import { fileRows, removeOlderFiles } from '../run/older-files.ts';
import type { ChosenGate } from '../run/plan.ts';
import type { Continued } from '../spec.ts';
import { fetchGate, orError } from './detached-tools.ts';
import { restored } from './entry.ts';
import { checkAccount, locationOf, openStore, type ResumedGate, type StoredGate } from './store.ts';
import { runStrictly } from './strict.ts';

const outputRows: readonly OptionRow[] = [rows.json, rows.format, rows.quiet, rows.verbose];

const nextCommand =
  'run the command that the last slice printed, unchanged; or run the first command again, which continues its gate';

/** The id of a gate that the hub keeps is longer: it is one of those of many repositories. */
const isDetached = (id: string) => /^[0-9a-f]{16}$/.test(id);

/** @throws UsageError for a text that is not an id; ConfigError if the gate cannot be read here */
function storedGate(io: Io, id: string): ResumedGate {
  if (!/^[0-9a-f]{8}$/.test(id))
    throw new UsageError(`--resume: ${echoed(id)} is not the id of a gate`, { hint: nextCommand });
  const ci = detectCi(io.env);
  const stored = openStore(io, ci).read();
  const gate = stored?.gates[id];
  if (stored === null || gate === undefined)
    throw new ConfigError(`--resume: there is no gate ${id} of this user or CI job`, { hint: nextCommand });
  if (gate.location !== locationOf(io, ci) || gate.command.cwd !== io.cwd)
    throw new ConfigError(`--resume: gate ${id} was started in another folder or CI job`, {
      hint: 'run the command where the first one ran',
    });
  return { stored, gate };
}

/** @throws UsageError for an option that is neither this one nor one of output */
export function checkOnlyOutput(given: Flags, own: OptionRow): void {
  const [foreign] = givenOptions(given, (row) => row !== own && !outputRows.includes(row));
  if (foreign === undefined) return;
  throw new UsageError(`${foreign} and ${flagName(own)} cannot be combined: the gate keeps its own options`, {
    hint: 'give only output options: --json, --format, --quiet, --verbose',
  });
}

/**
 * Returns the gate that `--resume` goes on with, and its options: those of the first command, with the output that this one asks
 * for. Reports of an earlier end are removed, as those of a command line with these options are.
 * @throws UsageError or ConfigError
 */
export async function continuedGate(io: Io, given: Flags): Promise<Continued> {
  const { resume: id = '' } = given;
  checkOnlyOutput(given, rows.resume);
  const resumed = isDetached(id) ? await fetchGate(io, id) : storedGate(io, id);
  const { command } = resumed.gate;
  removeOlderFiles(
    argumentsOf(command.flags, (row) => fileRows.includes(row)),
    io,
  );
  const { json: _json, format: _format, ...others } = command.flags;
  const choosesFormat = given.json !== undefined || given.format !== undefined;
  const { flags, settings } = readValues({ ...(choosesFormat ? others : command.flags), ...given });
  return {
    flags,
    settings: resumed.detached ? { ...settings, ...connectionOf(resumed.gate) } : settings,
    resumed,
  };
}

/** Returns how the first job reached the service: the one that goes on has no project file. The seal shows that it had the same API key. */
function connectionOf({ command }: StoredGate): SomeSettings {
  const { apiUrl, auth, caFile, 'env.providerModelField': field } = command.settings.values;
  return {
    apiUrl: apiUrl?.value,
    auth: auth?.value,
    caFile: caFile?.value,
    'env.providerModelField': field?.value,
  };
}

/** Returns the gates of `--resume` as the first command chose them. @throws ConfigError if they belong to another folder, job, address or account */
function resumedGates(context: Context, names: readonly string[], { stored, gate, detached }: ResumedGate) {
  if (names.length > 0)
    throw new UsageError(
      'a gate and --resume cannot be combined: --resume continues the gates of the first command',
      {
        hint: `leave out ${echoed(names[0] ?? '')}`,
      },
    );
  const { output, settings, sources } = context;
  const { command, apiUrl, id } = gate;
  if (apiUrl !== settings.apiUrl?.value)
    throw new ConfigError(
      `--resume: the runs of gate ${id} are at ${output.excerpt(apiUrl, 200)}, but the service is ${output.excerpt(settings.apiUrl?.value ?? 'not set', 200)} now`,
      { hint: 'set the same address as for the first command' },
    );
  if (detached === undefined) checkAccount(stored, gate, settings);
  const chosen = Object.entries(command.gates).map(([name, gate]): ChosenGate => {
    const now = sources.gates.find((known) => known.name === name)?.settings ?? settings;
    return { name, ...gate, settings: restored(gate.settings, now) };
  });
  const first = restored(command.settings, settings);
  // The workflow of the default branch says where the hub's token goes, not the job of a pull request.
  const hubUrl = detached && settings['hub.url'];
  const used = hubUrl === undefined ? first : { ...first, 'hub.url': hubUrl };
  return { context: { ...context, settings: used }, chosen };
}

/** Goes on with a gate. Returns the exit code. */
export const continueGate = (own: Context, names: readonly string[], resumed: ResumedGate): Promise<number> =>
  orError(own.io, resumed.detached, async () => {
    const { context, chosen } = resumedGates(own, names, resumed);
    return runStrictly(context, chosen, resumed);
  });
