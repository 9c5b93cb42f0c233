import { describeRun, runTitle } from '../../ci/reports/wording.ts';
import { durationText, formatDuration } from '../../duration.ts';
import { exitCodes } from '../../exit.ts';
import { usualLimits } from '../../gate/limits.ts';
import { type PlannedGate, unnamed } from '../../gate/plan/plan.ts';
import { resolvePolicy, type Verdict } from '../../gate/policy.ts';
import { decidingRuns, verdictText } from '../../gate/report.ts';
import type { GateReport, GatesReport, RunReport } from '../../gate/result-types.ts';
import type { EndEvent } from '../../library/reporter.ts';
import { type OptionRow, rows } from '../../options/table.ts';
import { wantsJson } from '../../output/json.ts';
import type { Output } from '../../output/output.ts';
import type { Settings } from '../../settings/names.ts';
import type { Context } from '../context.ts';
import { selfName } from '../init/first-steps.ts';
import { argumentsOf } from '../options.ts';
import { quotedCommand } from '../shell-quoted.ts';
import { fileRows } from './older-files.ts';

/** Prints last how to go on waiting for the runs that rungate left going, and the pages of those that failed the gate. */
export async function printClosing(
  end: EndEvent,
  gates: readonly PlannedGate<Settings>[],
  context: Context,
): Promise<void> {
  const { output } = context;
  const { report } = end;
  const results = 'gates' in report ? report.gates : [{ name: unnamed, ...report }];
  for (const { name, runs } of results) {
    const gate = gates.find((planned) => planned.name === name);
    const left = decidingRuns({ runs }).filter(isLeftGoing);
    if (gate === undefined || left.length === 0) continue;
    // The wait would not know that an earlier run failed.
    const hadFailed = runs.some(({ verdict, decides }) => verdict === 'failed' && decides === false);
    if (hadFailed && gate.rules.policy.flaky === 'fail') continue;
    const title = name === unnamed ? '' : `${name}: `;
    const shown = report.deployed?.reads.findLast(({ matches }) => matches)?.text ?? undefined;
    const command = waitCommandLine(gate, left, shown, context);
    if (command !== null) await output.alert(`${title}to continue waiting: ${command}`);
  }
  if (end.exitCode === exitCodes.ok) return;
  const failing = decidingRuns(end.runs()).filter(
    ({ action, appUrl }) => action === 'fail' && appUrl !== null,
  );
  // The table above shows the pages of several runs.
  if (output.oneScreen && failing.length > 1) return;
  for (const run of failing) await output.alert(openLine(run, failing.length > 1, output));
}

function isLeftGoing({ runId, verdict, state, cancellation }: RunReport): boolean {
  const isOpen =
    verdict === 'timeout' || (verdict === null && state !== 'completed' && state !== 'cancelled');
  return runId !== null && isOpen && cancellation !== 'requested';
}

/** Returns the line about a failed run: `2 failed: https://…`. */
function openLine(run: RunReport, several: boolean, output: Output): string {
  const { failed, blocked, appUrl } = run;
  const counts = Object.entries({ failed, blocked }).flatMap(([word, count]) =>
    count ? `${count} ${word}` : [],
  );
  const title = several ? `${output.excerpt(runTitle(run), 200)}: ` : '';
  const result = counts.length === 0 ? verdictText(run) : counts.join(', ');
  return `${title}${result}: ${output.excerpt(appUrl ?? '', 2000)}`;
}

const isShared = ({ commands, group }: OptionRow) =>
  group !== 'Wait options:' && (commands?.includes('wait') === true || commands?.includes('every') === true);

const namesOf = (runs: readonly RunReport[]) =>
  runs.some(({ name, runId }) => name !== runId) ? runs.flatMap(({ name }) => ['--name', name ?? '']) : [];

/**
 * Returns the command that waits for the runs with the same rules and connection, and for the only gate with its reports; null
 * if it cannot be quoted.
 * @param shown the expected version as the page showed it, which may be the digest of a subject
 */
function waitCommandLine(
  { name, settings, rules: { policy, timeoutMs, intervalMs } }: PlannedGate<Settings>,
  runs: readonly RunReport[],
  shown: string | undefined,
  { io, flags, output }: Context,
): string | null {
  const isOnly = name === unnamed;
  const strict = policy.cancelled === 'fail';
  const usual = resolvePolicy({ strict });
  const own = settings.on?.value ?? {};
  const overrides = Object.entries(policy).filter(
    ([verdict, action]) => action !== usual[verdict as Verdict] || Object.hasOwn(own, verdict),
  );
  const ids = runs.map(({ runId }) => String(runId));
  // The service chooses the ids: none may become an option.
  const areWords = ids.every((id) => !id.startsWith('-'));
  // `run wait` takes the commit from where it runs.
  const { commitSha } = flags;
  const isHere = commitSha === undefined;
  const comparesBuild = settings['deployed.url'] && !settings['deployed.is'];
  const hasSubjects = (flags.subject ?? settings['receipt.subjects']) !== undefined;
  const usesSubjects = isHere && ((isOnly && flags.receipt !== undefined) || comparesBuild);
  const isKept = (row: OptionRow) =>
    isShared(row) &&
    // One about a single gate must not replace those of several.
    (isOnly || !fileRows.includes(row)) &&
    (isHere || row !== rows.receipt) &&
    (usesSubjects || row !== rows['receipt.subjects']);
  const words = [
    ...[...selfName(io).split(' '), 'run', 'wait', ...(areWords ? ids : [])],
    strict ? '--strict' : '--no-strict',
    ...overrides.flatMap(([verdict, action]) => ['--on', `${verdict}=${action}`]),
    ...['--timeout', durationText(timeoutMs)],
    ...(intervalMs === usualLimits.intervalMs ? [] : ['--interval', durationText(intervalMs)]),
    // The query of the page may have a secret, as in all messages.
    ...argumentsOf(flags, isKept).map((word) =>
      word === flags.deployedUrl ? word.replace(/\?.*$/s, '?…') : word,
    ),
    ...(comparesBuild && !isHere ? ['--deployed-is', (hasSubjects && shown) || commitSha] : []),
    // Reports compare runs by name from build to build.
    ...(!isOnly || (flags.junit ?? flags.report) === undefined ? [] : namesOf(runs)),
    ...(areWords ? [] : ['--', ...ids]),
  ];
  return quotedCommand(
    words.map((word) => output.excerpt(word, 2000)),
    io.platform,
  );
}

function lineOf(run: RunReport): string {
  const counts = `${run.failed ?? '?'} failed, ${run.blocked ?? '?'} blocked`;
  const after = formatDuration(Math.round(run.elapsedSeconds) * 1000);
  return `${describeRun(run)} has not ended: ${run.state ?? 'not read yet'} after ${after} (${counts})`;
}

/** Prints what goes on after a slice. Only JSON has a result on stdout. */
export async function printWaiting(report: GateReport | GatesReport, output: Output): Promise<void> {
  if (wantsJson(output)) await output.data(report, '');
  const gates = 'gates' in report ? report.gates : [{ name: '', ...report }];
  for (const { name, result, runs } of gates) {
    const title = name === '' ? '' : `${name}: `;
    const live = runs.filter(({ verdict }) => verdict === null).map(lineOf);
    const lines = live.length > 0 || result !== 'waiting' ? live : ['no run has been started yet'];
    for (const line of lines) await output.alert(output.excerpt(`${title}${line}`, 400));
  }
  const isDetached = report.exitCode === exitCodes.ok;
  const text = `the slice is over (exit ${report.exitCode}): the gate has neither passed nor failed`;
  await output.alert(isDetached ? output.excerpt(report.hint ?? '', 400) : text);
}
