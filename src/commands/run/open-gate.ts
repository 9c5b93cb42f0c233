import { ConfigError } from '../../errors.ts';
import type { SeenBuild } from '../../gate/deployed/reads.ts';
import { intervalNote } from '../../gate/limits.ts';
import { unnamed } from '../../gate/plan/plan.ts';
import type { PlanStore } from '../../gate/plan/saved.ts';
import { type OpenOptions, openGate } from '../../library/open-gate.ts';
import type { Reporter } from '../../library/reporter.ts';
import type { Flags } from '../../options/table.ts';
import { isLocal } from '../../transport/address.ts';
import { runsInCi } from '../ci-context.ts';
import { guardHubToken } from '../config/credential-guard.ts';
import type { Context } from '../context.ts';
import { sayFrom } from '../source-names.ts';
import { printClosing } from './closing.ts';
import { deployedOptions } from './deployed.ts';
import { progressReporters } from './progress.ts';
import { checkFiles, writeReports } from './reports.ts';
import { printGate } from './result.ts';
import { asksForBuild, type CommandGate, noHub } from './wait-flags.ts';

/** Returns the warnings about short intervals, each once. @throws UsageError or ConfigError below 1 s */
function intervalNotes(gates: readonly CommandGate[], local: boolean): Set<string> {
  const notes = gates.flatMap(({ settings: { interval }, rules: { intervalMs }, name }) => {
    if (interval?.origin === 'flag') return intervalNote('--interval', intervalMs, local) ?? [];
    const setting = name === unnamed ? 'the setting interval' : `the setting interval of gate ${name}`;
    return intervalNote(setting, intervalMs, local, ConfigError) ?? [];
  });
  return new Set(notes);
}

/** A part that takes a share in a command's gates, and may let them go on in another command. */
export interface GatePart {
  onStop: OpenOptions['onStop'];
  /** Receives events before the reporters that print and write. It puts the command that goes on into the result. */
  readonly record: Reporter;
  /** Receives events after them. */
  readonly reported: Reporter;
  readonly store: PlanStore;
  /** The reads of the version page so far, and how long the wait for the build may still take. */
  readonly build: { seen: SeenBuild | undefined; leftOf(timeoutMs: number): number };
}

/** Nothing is written about a gate that goes on. */
const atTheEnd = (reporter: Reporter): Reporter => ({
  ...reporter,
  end: (event) => (event.report.next === undefined ? reporter.end?.(event) : undefined),
});

/** Returns whether an earlier command has begun the gates, so that runs may be in progress. */
export const hasBegun = (part: GatePart | null): boolean => part?.store.plan != null;

/** Runs gates, prints the result and writes the reports. Returns the exit code. */
export async function runGates(
  context: Context,
  gates: readonly CommandGate[],
  flags: Flags,
  receipt: readonly Reporter[] = [],
  part: GatePart | null = null,
): Promise<number> {
  const { io, output, settings } = context;
  await checkFiles(context, 'report', [flags.junit ?? [], flags.report ?? []].flat(), hasBegun(part));
  const isOwn = gates.every(({ start }) => start !== undefined);
  const isSliced = flags.slice !== undefined;
  const local = isLocal(settings.apiUrl?.value ?? '');
  const printer: Reporter = {
    end: (event) => (event.error === null ? printGate(event, context) : undefined),
  };
  const reports: Reporter = {
    end: (event) => writeReports(context, event, flags),
  };
  const closing: Reporter = {
    end: (event) =>
      event.error === null ? printClosing(event, gates, flags, output, io.platform) : undefined,
  };
  const reporters = [
    ...(await progressReporters(io, output, gates)),
    ...(part === null ? [] : [part.record]),
    printer,
    ...[...receipt, reports, closing].map(atTheEnd),
    ...(part === null ? [] : [part.reported]),
  ];
  const { exitCode } = await openGate(
    {
      ...openOptions(context),
      ...(part !== null && { onStop: part.onStop }),
      gates,
      store: part?.store,
      local,
      env: io.env,
      failFast: flags.failFast === true,
      async connect() {
        const notes = intervalNotes(gates, local);
        const caller = await context.connect();
        for (const note of notes) await output.alert(`${output.paint('warn', 'warning:')} ${note}`);
        return caller;
      },
      async deployed(commit) {
        if (!asksForBuild(settings, flags)) return null;
        const options = await deployedOptions(context, flags, commit);
        if (options === null || part === null) return options;
        const { seen, leftOf } = part.build;
        return { ...options, seen, timeoutMs: leftOf(options.timeoutMs) };
      },
      connection: () => context.connection(),
      cancelOnInterrupt: flags.cancelOnInterrupt ?? (isSliced ? 'SIGINT' : isOwn),
      cancelOnTimeout: flags.cancelOnTimeout === true,
    },
    reporters,
  );
  return exitCode;
}

/** Returns how a gate is stopped: outside CI, it outlives the shell and the terminal that started it. */
export const gateStops =
  (io: Context['io']): OpenOptions['onStop'] =>
  (listener) =>
    io.onStop(listener, !runsInCi(io.env));

export function openOptions(context: Context): OpenOptions {
  const { io, settings, output } = context;
  return {
    clock: io.clock,
    random: io.random,
    onStop: gateStops(io),
    redact: output.redact,
    say: sayFrom(settings),
    connect: () => context.connect(),
    async hub() {
      const url = settings['hub.url']?.value;
      if (url === undefined || url === noHub) return null;
      const { caPem, insecureHttp, proxyEnv } = await context.connection();
      const token = settings.hubTokens?.value[0];
      const guard = () => guardHubToken(io, settings);
      return { url, token, caPem, insecureHttp, proxyEnv, guard };
    },
  };
}
