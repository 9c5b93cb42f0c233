import type { Artifact } from '../subject.ts';

/** The type of an in-toto statement, version 1. */
export const statementType = 'https://in-toto.io/Statement/v1';
/** The type of in-toto's test-result predicate, version 0.1. */
export const predicateType = 'https://in-toto.io/attestation/test-result/v0.1';
/** The type of the payload in an envelope. */
export const payloadType = 'application/vnd.in-toto+json';

/** The result of a gate or of a receipt. `WARNED`: the run did not pass, or only on a retry, but the gate's policy let it through. */
export type ReceiptResult = 'PASSED' | 'WARNED' | 'FAILED';

/** The worst first. */
export const results: readonly ReceiptResult[] = ['FAILED', 'WARNED', 'PASSED'];

/** A run in a receipt. A fact that the gate does not know is null: `run wait` only knows the id of a run. */
export interface ReceiptRun {
  result: ReceiptResult;
  /** The verdict of the run that decided: `passed`, `failed`, `blocked`, `cancelled` … */
  verdict: string;
  runId: string | null;
  name: string | null;
  /** The project's slug. */
  project: string | null;
  /** The process's slug. */
  process: string | null;
  tags: readonly string[] | null;
  /** Count of failed items. */
  failed: number | null;
  /** Count of blocked items. */
  blocked: number | null;
  /** URL of the run. */
  appUrl: string | null;
}

/** The deployed build, if the gate checked it. */
export interface ReceiptDeployment {
  /** The URL of the version page, without its query. */
  url: string;
  /** The JSON pointer of the version; null if the whole page is the version. */
  pointer: string | null;
  expected: string;
  /** Whether the runs tested only the expected build; null if that is unknown. */
  matches: boolean | null;
  /** The version that the gate read last; null if that read failed. */
  version: string | null;
}

/** The facts about the runs of a gate: the annotation `rungate` of the first entry of `configuration`. */
export interface ReceiptFacts {
  schemaVersion: 1;
  /** The name of the gate in the project file; absent for a gate without a name. */
  gate?: string;
  /** The version of rungate that wrote the receipt. */
  rungate: string;
  /** Branch or ref. */
  ref: string | null;
  /** URL of the CI build. */
  buildUrl: string | null;
  /** When the first run began, RFC 3339. */
  startedAt: string;
  /** When the last verdict was reached, RFC 3339. The age of a receipt counts from here. */
  finishedAt: string;
  runs: readonly ReceiptRun[];
  deployed?: ReceiptDeployment;
}

/** The commit that was tested. Its name is the repository. */
export interface TestedCommit {
  name?: string;
  digest: { gitCommit: string };
}

/** in-toto's description of a resource, by its URI, its digest or its content. */
export interface ResourceDescriptor {
  name?: string;
  uri?: string;
  digest?: Readonly<Record<string, string>>;
  /** Base64. */
  content?: string;
  mediaType?: string;
  annotations?: Readonly<Record<string, unknown>>;
}

/** An in-toto statement (v1) with a test-result predicate (v0.1) about one commit and the artifacts that were built from it. */
export interface Statement {
  _type: typeof statementType;
  subject: readonly [TestedCommit, ...Artifact[]];
  predicateType: typeof predicateType;
  predicate: {
    result: ReceiptResult;
    /**
     * The runs, by their names, at the service that ran them; then the environment, if it is known (`annotations.key`, and of a
     * preview deployment `annotations.baseUrl`), and the gate's policy (`content`).
     */
    configuration: readonly [
      { name: string; uri: string; annotations: { rungate: ReceiptFacts } },
      ...ResourceDescriptor[],
    ];
    /** URL of the run, if there is only one. */
    url?: string;
    passedTests: readonly string[];
    warnedTests: readonly string[];
    failedTests: readonly string[];
  };
}

/** Returns the result of several runs: that of the worst. */
export const worstResult = (runs: readonly Pick<ReceiptRun, 'result'>[]): ReceiptResult =>
  results.find((result) => runs.some((run) => run.result === result)) ?? 'FAILED';

/** Returns the facts about the runs of a gate. */
export const factsOf = ({ predicate }: Statement): ReceiptFacts =>
  predicate.configuration[0].annotations.rungate;

/** Returns a fact about the environment of the runs; null if the gate does not know it, as of the project's default. */
export function environmentFact({ predicate }: Statement, name: 'key' | 'baseUrl'): string | null {
  const [, ...others] = predicate.configuration;
  const fact = others.find((entry) => entry.name === 'environment')?.annotations?.[name];
  return typeof fact === 'string' ? fact : null;
}

/** A whole git commit, SHA-1 or SHA-256, in lower case. */
export const commitPattern = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Returns a whole commit in lower case, or null. */
export function wholeCommit(text: unknown): string | null {
  const commit = typeof text === 'string' ? text.trim().toLowerCase() : '';
  return commitPattern.test(commit) ? commit : null;
}
