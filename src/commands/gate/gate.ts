import { UsageError } from '../../errors.ts';
import { selected } from '../../gate/plan/graph.ts';
import { type Flags, rows } from '../../options/table.ts';
import { echoed, instead } from '../../suggest.ts';
import type { Context } from '../context.ts';
import { givenOptions } from '../options.ts';
import { dryRun } from '../run/dry-run.ts';
import { type ChosenGate, onlyGate } from '../run/plan.ts';
import { checkReportFlags } from '../run/reports.ts';
import { command, rowOptions } from '../spec.ts';
import { resumePendingGates } from './pending.ts';
import { continuedGate, continueGate } from './resume.ts';
import { runStrictly } from './strict.ts';

/** @throws UsageError for options that have no effect */
function checkSliceFlags({ slice, new: fresh, detach }: Flags): void {
  if (detach === true && slice !== undefined)
    throw new UsageError('--detach and --slice cannot be combined', {
      hint: 'leave out --slice: a detached gate ends its job by itself',
    });
  if (fresh === true && slice === undefined)
    throw new UsageError('--new has no effect without --slice', {
      hint: 'leave it out: without --slice, each command starts a new run',
    });
}

/** Creates a run, or one for each of the file's gates, waits for it and exits with the result. */
export const gate = command({
  name: 'gate',
  summary: 'start a test run, wait for it and exit with its verdict',
  heading: 'Gate:',
  description:
    'Start a test run, wait for it and exit with its verdict: 0 only if the gate passes. Without --process or --tag, run the gates of .rungate.json, if it has any.',
  args: {
    '[name...]': {
      help: 'gates of .rungate.json to run, with their dependencies (default: all)',
      completes: 'gates',
    },
  },
  options: { ...rowOptions('gate'), ...dryRun },
  examples: [
    'rungate gate --project shop --process checkout',
    'rungate gate --project shop --tag smoke --timeout 30m --junit rungate.xml',
    'rungate gate web --fail-fast',
    'rungate gate --dry-run',
  ],
  decides: true,
  // A strict gate, limited by its timeout only.
  defaults: { strict: true, maxAttempts: Number.POSITIVE_INFINITY },
  check(flags) {
    checkReportFlags(flags);
    if (flags.resume === undefined) checkSliceFlags(flags);
  },
  async continues(io, flags) {
    return flags.resume === undefined ? null : continuedGate(io, flags);
  },
  async run(own, { name: names }, { resumePending }, resumed) {
    if (resumePending) return resumePendingGates(own, names);
    if (resumed !== undefined) return continueGate(own, names, resumed);
    const chosen = chosenGates(own, names);
    return runStrictly(own, chosen);
  },
});

/** Returns the gates of the project file to run, or the one that the settings select. @throws UsageError */
function chosenGates(
  { io, flags, settings, sources: { gates, projectFile } }: Context,
  names: readonly string[],
): ChosenGate[] {
  const [selector] = givenOptions(flags, (row) => row === rows.process || row === rows.tags);
  if (selector !== undefined) {
    if (names.length === 0) return [onlyGate(settings)];
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
  if (settings.process !== undefined || settings.tags !== undefined) return [onlyGate(settings)];
  const where =
    projectFile === null
      ? `there is no .rungate.json in ${io.cwd} or above it`
      : `${projectFile} names nothing`;
  throw new UsageError(`nothing to run: no --process or --tag is given, and ${where}`, {
    hint: 'give --process <slug> or --tag <tag>, or run rungate init, which writes "process", "tags" or "gates" into .rungate.json',
  });
}
