import { shownAs, type Verdict } from '../gate/policy.ts';
import { decidingRuns } from '../gate/report.ts';
import type { GateReport, RunReport } from '../gate/result-types.ts';
import { redactJson } from '../json/rewrite.ts';
import type { Redact } from '../redact.ts';
import type { Artifact } from '../subject.ts';
import { version } from '../version.ts';
import { type Envelope, seal } from './dsse.ts';
import type { Key } from './keys.ts';
import {
  predicateType,
  type ReceiptFacts,
  type ReceiptResult,
  type ReceiptRun,
  type ResourceDescriptor,
  type Statement,
  statementType,
  wholeCommit,
  worstResult,
} from './statement.ts';

/** The facts about a build, as a create request has them, and the base URL of a preview deployment, without its query. */
export interface BuildSource {
  readonly commitSha?: string | null | undefined;
  readonly repository?: string | null | undefined;
  readonly ref?: string | null | undefined;
  readonly environmentKey?: string | null | undefined;
  readonly baseUrl?: string | null | undefined;
  readonly externalUrl?: string | null | undefined;
}

/** The facts that a gate knows besides its report, as they were when it began. */
export interface GateFacts {
  /** Its commit is a whole one. */
  build: BuildSource;
  /** The images and files that were tested. */
  subjects: readonly Artifact[];
  /** The name of the gate in the project file, if it has one. */
  gate?: string | undefined;
  /** The base URL of the service. */
  apiUrl: string;
  policy: Readonly<Record<string, string>>;
}

/** The verdicts that say what was tested; of `mismatch`, the gate is sure. After any other, there is no receipt, whatever the policy is. */
const conclusive: readonly Verdict[] = ['passed', 'flaky', 'failed', 'blocked', 'cancelled', 'mismatch'];

const resultFor = { pass: 'PASSED', warn: 'WARNED', fail: 'FAILED', waiting: 'FAILED' } as const;

function runOf(run: RunReport, verdict: Verdict): ReceiptRun {
  const { runId, name, project, process, tags, failed, blocked, appUrl } = run;
  const result: ReceiptResult = resultFor[shownAs(run)];
  return { result, verdict, runId, name, project, process, tags, failed, blocked, appUrl };
}

/** Returns the runs of a gate if each has a conclusive verdict and its time; otherwise null. */
function conclusiveRuns(report: GateReport): ReceiptRun[] | null {
  if (report.interruptedBy !== undefined || report.runs.length === 0) return null;
  const runs: ReceiptRun[] = [];
  for (const run of decidingRuns(report)) {
    if (run.verdict === null || run.endedAt === undefined || !conclusive.includes(run.verdict)) return null;
    runs.push(runOf(run, run.verdict));
  }
  return runs;
}

/** Returns the entry for the environment; none for the project's default. */
function environmentAt({ apiUrl, build }: GateFacts): ResourceDescriptor[] {
  const key = build.environmentKey ?? null;
  const baseUrl = build.baseUrl ?? null;
  if (key === null && baseUrl === null) return [];
  const list = `${apiUrl.replace(/\/$/, '')}/api/environments`;
  return [
    {
      name: 'environment',
      uri: key === null ? list : `${list}#${encodeURIComponent(key)}`,
      annotations: { ...(key !== null && { key }), ...(baseUrl !== null && { baseUrl }) },
    },
  ];
}

/** Returns the times at which runs began and ended, in milliseconds since the epoch. */
const timesOf = ({ runs }: GateReport): number[] =>
  runs.flatMap(({ endedAt, elapsedSeconds }) => {
    const at = Date.parse(endedAt ?? '');
    return Number.isNaN(at) ? [] : [at - Math.round(elapsedSeconds * 1000), at];
  });

function receiptFacts(report: GateReport, runs: ReceiptRun[], facts: GateFacts): ReceiptFacts {
  const { gate, build } = facts;
  const times = timesOf(report);
  const receipt: ReceiptFacts = {
    schemaVersion: 1,
    ...(gate !== undefined && { gate }),
    rungate: version,
    ref: build.ref ?? null,
    buildUrl: build.externalUrl ?? null,
    startedAt: new Date(Math.min(...times)).toISOString(),
    finishedAt: new Date(Math.max(...times)).toISOString(),
    runs,
  };
  if (report.deployed === undefined) return receipt;
  const { url, pointer, expected, matches, reads } = report.deployed;
  return { ...receipt, deployed: { url, pointer, expected, matches, version: reads.at(-1)?.text ?? null } };
}

/** A secret that equals the name of a verdict or an action must not hide it. */
function redacted(statement: Statement, { policy }: GateFacts, redact: Redact): Statement {
  const words = Object.entries(policy).flat();
  const text = redactJson(JSON.stringify(statement), (part) => (words.includes(part) ? part : redact(part)));
  return JSON.parse(text);
}

/** Returns the statement about the runs of a gate, without secrets, or null if one of them has no verdict. */
export function gateStatement(report: GateReport, facts: GateFacts, redact: Redact): Statement | null {
  const { build, subjects, apiUrl, policy } = facts;
  const commit = wholeCommit(build.commitSha);
  if (commit === null) throw new TypeError('a receipt needs a full commit hash');
  const runs = conclusiveRuns(report);
  if (runs === null) return null;
  const nameOf = ({ name, runId }: ReceiptRun) => name ?? runId ?? '';
  const named = (result: ReceiptResult) => runs.filter((run) => run.result === result).map(nameOf);
  const url = runs.length === 1 ? runs[0]?.appUrl : null;
  const repository = build.repository ?? null;
  const statement: Statement = {
    _type: statementType,
    subject: [
      { ...(repository !== null && { name: repository }), digest: { gitCommit: commit } },
      ...subjects,
    ],
    predicateType,
    predicate: {
      result: worstResult(runs),
      configuration: [
        {
          // Policies take the name of the first entry as the name of the test.
          name: runs.map(nameOf).join(', '),
          uri: apiUrl,
          annotations: { rungate: receiptFacts(report, runs, facts) },
        },
        ...environmentAt(facts),
        {
          name: 'policy',
          mediaType: 'application/json',
          content: Buffer.from(JSON.stringify(policy)).toString('base64'),
        },
      ],
      ...(url && { url }),
      passedTests: named('PASSED'),
      warnedTests: named('WARNED'),
      failedTests: named('FAILED'),
    },
  };
  return redacted(statement, facts, redact);
}

/** Returns the receipt of a gate: the envelope that the key signs, or without a key the statement in it. */
export const receiptOf = (statement: Statement, key: Key | null): Envelope | Statement =>
  key === null ? statement : seal(Buffer.from(JSON.stringify(statement)), key);
