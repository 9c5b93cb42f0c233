import { ConfigError, UsageError } from '../../errors.ts';
import { inOrder, selected } from '../../gate/plan/graph.ts';
import { unnamed } from '../../gate/plan/plan.ts';
import { rows } from '../../options/table.ts';
import { policySettings } from '../../settings/merge.ts';
import type { SomeSettings } from '../../settings/names.ts';
import { echoed, instead } from '../../suggest.ts';
import { buildContext } from '../ci-context.ts';
import type { GateSettings } from '../config/sources.ts';
import type { Context } from '../context.ts';
import { givenOptions } from '../options.ts';
import { printRequests } from '../run/dry-run.ts';
import { hasBegun, runGates } from '../run/open-gate.ts';
import { receiptGate, replaceReceipts } from '../run/receipt.ts';
import { type PlannedStart, planStart, triggerBody, warnOfReRuns } from '../run/start.ts';
import { withSubjectFiles } from '../run/subjects.ts';
import { type CommandGate, type GateFlags, gateOf } from '../run/wait-flags.ts';
import { planCommandPreviews, type WithPreviews } from './preview.ts';
import type { Resumed } from './resume.ts';

/** The values that apply to `rungate gate` if nothing sets them: a strict gate, limited by its timeout only. */
export const gateDefaults: SomeSettings = { strict: true, maxAttempts: Number.POSITIVE_INFINITY };

/** `rungate gate [name...]`: creates a run, or one for each of the file's gates, waits for it and exits with the result. */
export async function gateCommand(
  context: Context,
  names: readonly string[],
  flags: GateFlags,
): Promise<number> {
  const { resume } = flags;
  // `--slice` and `--resume` load `node:crypto`, for which other gates would pay.
  const resumed =
    resume === undefined ? null : (await import('./resume.ts')).resumedGate(context, names, resume);
  const own = resumed?.context ?? context;
  const chosen = resumed === null ? chosenGates(context, names, flags) : resumed.chosen;
  await sayNotStrict(own, chosen);
  await warnOfVariables(own);
  return runChosen(own, chosen, flags, resumed);
}

/**
 * Runs gates of the project file, or the one that the settings select. Keys differ by the gate's name: two gates may have the same
 * body.
 * @throws ConfigError or UsageError before anything is sent
 */
async function runChosen(
  given: Context,
  chosen: readonly GateSettings[] | null,
  givenFlags: GateFlags,
  resumed: Resumed | null,
): Promise<number> {
  // An older receipt must not stay, whatever goes wrong from here on.
  const receipt = givenFlags.dryRun === true ? undefined : givenFlags.receipt;
  const openReceipts = replaceReceipts(given, receipt, chosen?.map(({ name }) => name) ?? [unnamed]);
  const [own, ownFlags] = await withSubjectFiles(given, givenFlags);
  if (chosen !== null && ownFlags.idempotencyKey !== undefined && ownFlags.idempotencyKey !== 'auto') {
    throw new UsageError('--idempotency-key has no effect with several gates: each run needs its own key', {
      hint: 'leave it out; --idempotency-salt distinguishes jobs that run the same gates',
    });
  }
  const ci = await buildContext(own);
  await warnOfReRuns(own, ownFlags, ci);
  chosen?.forEach(checkComplete);
  const only = { name: unnamed, needs: [], advisory: false, settings: own.settings };
  const { 'receipt.subjects': subjects } = own.settings;
  const asked = (chosen ?? [only]).map((gate) => ({
    ...gate,
    // With the files of `--subject-file`: a re-run with another build must not join the run of this one.
    settings: { ...gate.settings, ...(subjects !== undefined && { 'receipt.subjects': subjects }) },
    body: resumed?.bodyOf(gate.name) ?? triggerBody(gate.settings, ci),
  }));
  const { context, flags, gates: withPreview } = await planCommandPreviews(own, ownFlags, ci, asked);
  const plan: (CommandGate & PlannedStart)[] = [];
  for (const [at, { name, needs, advisory, ...gate }] of asked.entries()) {
    const { body, preview } = withPreview[at] as WithPreviews['gates'][number];
    const settings = chosen === null ? context.settings : gate.settings;
    const keyFlags = { ...flags, retries: settings.retries?.value };
    if (chosen !== null) {
      keyFlags.idempotencySalt = [flags.idempotencySalt, `gate ${name}`].filter(Boolean).join(', ');
      if (flags.explainKey === true) await context.output.alert(`gate ${name}:`);
    }
    const planned = await planStart({ ...context, settings }, keyFlags, body, ci);
    plan.push({ ...gateOf(settings, planned), ...planned, name, needs, advisory, preview });
  }
  const ordered = inOrder(plan);
  if (flags.dryRun === true) return printRequests(context, ordered, flags);
  const isSliced = flags.slice !== undefined;
  const slice = isSliced ? await (await import('./slice.ts')).openSlice(context, ci, ordered, flags) : null;
  const gates = slice?.gates ?? ordered;
  const receipts = await openReceipts?.(context, gates.map(receiptGate), hasBegun(slice));
  return runGates(context, gates, flags, receipts, slice);
}

/** Returns the gates of the project file to run, or null if the settings select one gate. @throws UsageError */
function chosenGates(
  { io, settings, sources: { gates, projectFile } }: Context,
  names: readonly string[],
  flags: GateFlags,
): GateSettings[] | null {
  const [selector] = givenOptions(flags, (row) => row === rows.process || row === rows.tags);
  if (selector !== undefined) {
    if (names.length === 0) return null;
    throw new UsageError(`${selector} and the name of a gate cannot be combined`, {
      hint: `leave out ${selector} to run gates of the project file, or the name to run one gate without it`,
    });
  }
  const known = gates.map(({ name }) => name);
  for (const name of names) {
    if (known.includes(name)) continue;
    const [reason, hint] =
      known.length > 0
        ? ['is not one of the gates', instead(name, known)]
        : [
            `is not a gate: ${projectFile === null ? 'there is no .rungate.json' : 'the project file has no gates'}`,
            `did you mean --process ${/^[\w.-]{1,64}$/.test(name) ? name : '<slug>'}?`,
          ];
    throw new UsageError(`${echoed(name)} ${reason}`, { hint });
  }
  if (known.length > 0) return selected(gates, names);
  if (settings.process !== undefined || settings.tags !== undefined) return null;
  const where =
    projectFile === null ? `no .rungate.json was found from ${io.cwd}` : `${projectFile} names nothing`;
  const ignored = unreadIn(io.env).map(([variable]) => `${variable} is not read: `);
  throw new UsageError(`nothing to run: no --process or --tag is given, and ${where}`, {
    hint: `${ignored.join('')}give --process <slug> or --tag <tag>, or run rungate init, which writes "process", "tags" or "gates" into .rungate.json`,
  });
}

/** @throws ConfigError if the gate has nothing to run */
function checkComplete({ name, place, settings }: GateSettings): void {
  const { project, process, tags } = settings;
  const missing =
    project === undefined ? 'project' : (process ?? tags) === undefined ? 'process or tags' : null;
  if (missing === null) return;
  throw new ConfigError(`${place}: gate ${name} has no ${missing} to run`, {
    hint: `write ${missing === 'project' ? '"project"' : '"process" or "tags"'} into the gate, or at the top level of the file for all gates`,
  });
}

/** Variables that a user may expect, but that would change what runs without a trace in the command. */
const unread = [
  ['RUNGATE_PROCESS', '--process <slug>'],
  ['RUNGATE_TAGS', '--tag <tag>'],
] as const;

const unreadIn = (env: Context['io']['env']) => unread.filter(([variable]) => env[variable]);

async function warnOfVariables({ io, output }: Context): Promise<void> {
  for (const [variable, option] of unreadIn(io.env)) {
    await output.alert(`${output.paint('warn', 'warning:')} ${variable} is not read: give ${option}`);
  }
}

/** Says first that a cancelled run does not fail the gate, unless the command line itself says so. */
async function sayNotStrict(context: Context, chosen: readonly GateSettings[] | null): Promise<void> {
  const { output, settings } = context;
  const gates = chosen ?? [{ name: unnamed, settings }];
  const bySource = new Map<string, string[]>();
  for (const gate of gates) {
    const { value, origin, detail } = policySettings(gate.settings).cancelled;
    if (value === 'fail' || origin === 'flag') continue;
    const source = detail ?? origin;
    bySource.set(source, [...(bySource.get(source) ?? []), gate.name]);
  }
  for (const [source, names] of bySource) {
    const which = names.length === gates.length ? '' : ` of ${names.join(', ')}`;
    await output.alert(
      `not strict: a cancelled run${which} does not fail the gate (${output.excerpt(source, 200)})`,
    );
  }
}
