import type { Verdict } from '../gate/policy.ts';
import { decidingRuns, shownAs } from '../gate/report.ts';
import type { DeployedReport, GateReport, RunReport } from '../gate/result-types.ts';
import { redactJson } from '../json/rewrite.ts';
import type { Redact } from '../redact.ts';
import type { Artifact } from '../subject.ts';
import { version } from '../version.ts';
import { type Envelope, seal } from './dsse.ts';
import type { Key } from './keys.ts';
import {
  commitPattern,
  predicateType,
  type ReceiptDeployment,
  type ReceiptResult,
  type ReceiptRun,
  type ResourceDescriptor,
  type Statement,
  statementType,
  worstResult,
} from './statement.ts';

/** The facts that a gate knows besides its report. Times in milliseconds since the epoch; unknown facts are null. */
export interface GateFacts {
  /** A whole commit. */
  commit: string;
  /** The images and files that were tested. */
  subjects: readonly Artifact[];
  /** The name of the gate in the project file, if it has one. */
  gate?: string | undefined;
  repository: string | null;
  ref: string | null;
  environment: string | null;
  /** The base URL of the preview deployment that was tested, without its query. */
  baseUrl: string | null;
  buildUrl: string | null;
  /** The base URL of the service. */
  apiUrl: string;
  policy: Readonly<Record<string, string>>;
  startedAt: number;
  finishedAt: number;
}

/** The facts about a build, as a create request has them, and the base URL of a preview deployment, without its query. */
export interface BuildSource {
  readonly commitSha?: string | null | undefined;
  readonly repository?: string | null | undefined;
  readonly ref?: string | null | undefined;
  readonly environmentKey?: string | null | undefined;
  readonly baseUrl?: string | null | undefined;
  readonly externalUrl?: string | null | undefined;
}

/** Returns the facts about a build for a receipt. The commit is not checked yet. */
export const buildFacts = (source: BuildSource) => ({
  commit: source.commitSha ?? null,
  repository: source.repository ?? null,
  ref: source.ref ?? null,
  environment: source.environmentKey ?? null,
  baseUrl: source.baseUrl ?? null,
  buildUrl: source.externalUrl ?? null,
});

/** The verdicts that say what was tested; of `mismatch`, the gate is sure. After any other, there is no receipt, whatever the policy is. */
const conclusive: readonly Verdict[] = ['passed', 'flaky', 'failed', 'blocked', 'cancelled', 'mismatch'];

const resultFor = { pass: 'PASSED', warn: 'WARNED', fail: 'FAILED', waiting: 'FAILED' } as const;

function runOf(run: RunReport, verdict: Verdict): ReceiptRun {
  const { runId, name, project, process, tags, failed, blocked, appUrl } = run;
  const result: ReceiptResult = resultFor[shownAs(run)];
  return { result, verdict, runId, name, project, process, tags, failed, blocked, appUrl };
}

function deploymentOf({ url, pointer, expected, matches, reads }: DeployedReport): ReceiptDeployment {
  return { url, pointer, expected, matches, version: reads.at(-1)?.text ?? null };
}

/** Returns the entry for the environment; none for the project's default. */
function environmentAt({ apiUrl, environment: key, baseUrl }: GateFacts): ResourceDescriptor[] {
  if (key === null && baseUrl === null) return [];
  const list = `${apiUrl.replace(/\/$/, '')}/api/environments`;
  return [
    {
      name: 'environment',
      uri: key === null ? list : `${list}#${encodeURIComponent(key)}`,
      annotations: { ...(key === null ? {} : { key }), ...(baseUrl === null ? {} : { baseUrl }) },
    },
  ];
}

const policyContent = (policy: GateFacts['policy']): ResourceDescriptor => ({
  name: 'policy',
  mediaType: 'application/json',
  content: Buffer.from(JSON.stringify(policy)).toString('base64'),
});

/** Returns the runs of a gate if each has a conclusive verdict; otherwise null. */
function conclusiveRuns(report: GateReport): ReceiptRun[] | null {
  if (report.interruptedBy !== undefined || report.runs.length === 0) return null;
  const runs: ReceiptRun[] = [];
  for (const run of decidingRuns(report)) {
    if (run.verdict === null || !conclusive.includes(run.verdict)) return null;
    runs.push(runOf(run, run.verdict));
  }
  return runs;
}

/** Returns the statement about the runs of a gate, or null if one of them has no verdict. */
export function gateStatement(report: GateReport, facts: GateFacts): Statement | null {
  const { commit, subjects, gate, repository, ref, buildUrl, apiUrl, policy } = facts;
  const { deployed } = report;
  if (!commitPattern.test(commit)) throw new TypeError('a receipt needs a whole commit');
  const runs = conclusiveRuns(report);
  if (runs === null) return null;
  const nameOf = ({ name, runId }: ReceiptRun) => name ?? runId ?? '';
  const named = (result: ReceiptResult) => runs.filter((run) => run.result === result).map(nameOf);
  const [only, ...others] = runs;
  const url = others.length === 0 ? only?.appUrl : null;
  const time = (ms: number) => new Date(ms).toISOString();
  const rungate = {
    schemaVersion: 1,
    ...(gate === undefined ? {} : { gate }),
    rungate: version,
    ref,
    buildUrl,
    startedAt: time(facts.startedAt),
    finishedAt: time(facts.finishedAt),
    runs,
    ...(deployed === undefined ? {} : { deployed: deploymentOf(deployed) }),
  } as const;
  return {
    _type: statementType,
    subject: [
      { ...(repository === null ? {} : { name: repository }), digest: { gitCommit: commit } },
      ...subjects,
    ],
    predicateType,
    predicate: {
      result: worstResult(runs),
      configuration: [
        // Policies take the name of the first entry as the name of the test.
        { name: runs.map(nameOf).join(', '), uri: apiUrl, annotations: { rungate } },
        ...environmentAt(facts),
        policyContent(policy),
      ],
      ...(url ? { url } : {}),
      passedTests: named('PASSED'),
      warnedTests: named('WARNED'),
      failedTests: named('FAILED'),
    },
  };
}

/**
 * Returns the receipt of a gate: the envelope that the key signs, or without a key the statement in it; null if a run has no
 * verdict.
 */
export function receiptOf(
  report: GateReport,
  facts: GateFacts,
  key: Key | null,
  redact: Redact,
): Envelope | Statement | null {
  const statement = gateStatement(report, facts);
  if (statement === null) return null;
  // A secret that equals the name of a verdict or an action must not hide it.
  const words = Object.entries(facts.policy).flat();
  const text = redactJson(JSON.stringify(statement), (part) => (words.includes(part) ? part : redact(part)));
  return key === null ? (JSON.parse(text) as Statement) : seal(Buffer.from(text), key);
}
