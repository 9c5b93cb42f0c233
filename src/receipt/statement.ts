import { parseTimestamp } from '../date-time.ts';
import type { Artifact } from '../subject.ts';
import { quoted, Refused } from './error.ts';
import { isObject, type Json, own } from './json.ts';

/** The type of an in-toto statement, version 1. */
export const statementType = 'https://in-toto.io/Statement/v1';
/** The type of in-toto's test-result predicate, version 0.1. */
export const predicateType = 'https://in-toto.io/attestation/test-result/v0.1';
/** The type of the payload in an envelope. */
export const payloadType = 'application/vnd.in-toto+json';

/** The result of a gate or of a receipt. `WARNED`: the run did not pass, or only on a retry, but the gate's policy let it through. */
export type ReceiptResult = 'PASSED' | 'WARNED' | 'FAILED';

const results: readonly ReceiptResult[] = ['FAILED', 'WARNED', 'PASSED'];

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
  /** When the gate began, RFC 3339. */
  startedAt: string;
  /** When the runs had ended, RFC 3339. The age of a receipt counts from here. */
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
export function worstResult(runs: readonly Pick<ReceiptRun, 'result'>[]): ReceiptResult {
  return results.find((result) => runs.some((run) => run.result === result)) ?? 'FAILED';
}

/** Returns the facts about the runs of a gate. */
export const factsOf = ({ predicate }: Statement): ReceiptFacts =>
  predicate.configuration[0].annotations.rungate;

/** Returns an annotation of the environment; undefined if there is none. */
function environmentAnnotation([, ...others]: readonly unknown[], name: string): unknown {
  const environment = others.find((entry) => isObject(entry) && own(entry, 'name') === 'environment');
  const annotations = isObject(environment) ? own(environment, 'annotations') : undefined;
  return isObject(annotations) ? own(annotations, name) : undefined;
}

/** Returns the key of the environment of the runs; null for the project's default, which the gate does not know. */
export function environmentOf({ predicate }: Statement): string | null {
  const key = environmentAnnotation(predicate.configuration, 'key');
  return typeof key === 'string' ? key : null;
}

/** Returns the base URL of the environment that the gate created for a preview deployment; otherwise null. */
export function baseUrlOf({ predicate }: Statement): string | null {
  const baseUrl = environmentAnnotation(predicate.configuration, 'baseUrl');
  return typeof baseUrl === 'string' ? baseUrl : null;
}

/** Tells whether a text is a whole git commit, SHA-1 or SHA-256, in lower case. */
export const isCommit = (text: unknown): text is string =>
  typeof text === 'string' && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);

const isSha256 = (text: unknown) => typeof text === 'string' && /^[0-9a-f]{64}$/.test(text);

type Is = (value: unknown) => boolean;

const isString: Is = (value) => typeof value === 'string';
const isCount: Is = (value) => typeof value === 'number';
const isFlag: Is = (value) => typeof value === 'boolean';
const isResult: Is = (value) => results.includes(value as ReceiptResult);
const isTime: Is = (value) => typeof value === 'string' && parseTimestamp(value) !== null;
const listOf =
  (is: Is): Is =>
  (value) =>
    Array.isArray(value) && value.every(is);
const orNull =
  (is: Is): Is =>
  (value) =>
    value === null || is(value);

const runFields: Readonly<Record<keyof ReceiptRun, Is>> = {
  result: isResult,
  verdict: isString,
  runId: orNull(isString),
  name: orNull(isString),
  project: orNull(isString),
  process: orNull(isString),
  tags: orNull(listOf(isString)),
  failed: orNull(isCount),
  blocked: orNull(isCount),
  appUrl: orNull(isString),
};

const deploymentFields: Readonly<Record<keyof ReceiptDeployment, Is>> = {
  url: isString,
  pointer: orNull(isString),
  expected: isString,
  matches: orNull(isFlag),
  version: orNull(isString),
};

const artifactFields: Readonly<Record<keyof Artifact, Is>> = {
  name: isString,
  digest: (value) => isObject(value) && isSha256(own(value, 'sha256')),
};

const factFields: Readonly<Record<Exclude<keyof ReceiptFacts, 'deployed' | 'runs'>, Is>> = {
  gate: (value) => value === undefined || (typeof value === 'string' && value !== ''),
  schemaVersion: (value) => value === 1,
  rungate: isString,
  ref: orNull(isString),
  buildUrl: orNull(isString),
  startedAt: isTime,
  finishedAt: isTime,
};

function objectAt(value: unknown, path: string): Json {
  if (!isObject(value)) throw new Refused(`${path} is not an object`);
  return value;
}

function objectsAt(value: unknown, path: string): [Json, ...Json[]] {
  if (!Array.isArray(value) || value.length === 0) throw new Refused(`${path} has no entries`);
  return value.map((entry, at) => objectAt(entry, `${path}[${at}]`)) as [Json, ...Json[]];
}

function checkFields(object: Json, fields: Readonly<Record<string, Is>>, path: string): void {
  const wrong = Object.entries(fields).find(([name, is]) => !is(own(object, name)))?.[0];
  if (wrong !== undefined) throw new Refused(`${path}.${wrong} is missing or invalid`);
}

function checkType(object: Json, field: string, expected: string): void {
  const type = own(object, field);
  if (type === expected) return;
  const given = typeof type === 'string' ? quoted(type) : 'missing';
  throw new Refused(`its ${field} is ${given}, not "${expected}"`);
}

/**
 * Checks that a JSON object is the statement of a receipt, and returns it. Unknown fields are allowed, as in-toto requires.
 * @throws Refused
 */
export function readStatement(value: Json): Statement {
  checkType(value, '_type', statementType);
  checkType(value, 'predicateType', predicateType);
  const [commit, ...artifacts] = objectsAt(own(value, 'subject'), 'subject');
  const name = own(commit, 'name');
  if (name !== undefined && typeof name !== 'string') throw new Refused('subject[0].name is not a string');
  const digest = objectAt(own(commit, 'digest'), 'subject[0].digest');
  if (!isCommit(own(digest, 'gitCommit')))
    throw new Refused('subject[0].digest.gitCommit is not a whole commit');
  artifacts.forEach((artifact, at) => {
    checkFields(artifact, artifactFields, `subject[${at + 1}]`);
  });
  const names = artifacts.map((artifact) => own(artifact, 'name'));
  if (new Set(names).size < names.length) throw new Refused('two of its subjects have the same name');
  const predicate = objectAt(own(value, 'predicate'), 'predicate');
  if (!isResult(own(predicate, 'result'))) throw new Refused('predicate.result is missing or invalid');
  const configurations = objectsAt(own(predicate, 'configuration'), 'predicate.configuration');
  const [configuration, ...others] = configurations;
  if (others.filter((entry) => own(entry, 'name') === 'environment').length > 1)
    throw new Refused('predicate.configuration has several environments');
  const baseUrl = environmentAnnotation(configurations, 'baseUrl');
  if (baseUrl !== undefined && typeof baseUrl !== 'string')
    throw new Refused('the annotation baseUrl of the environment is not a string');
  const annotations = objectAt(own(configuration, 'annotations'), 'predicate.configuration[0].annotations');
  const facts = objectAt(own(annotations, 'rungate'), 'the annotation rungate');
  checkFields(facts, factFields, 'rungate');
  const runs = own(facts, 'runs');
  if (!Array.isArray(runs) || runs.length === 0) throw new Refused('rungate.runs is not a list of runs');
  runs.forEach((run, at) => {
    checkFields(objectAt(run, `rungate.runs[${at}]`), runFields, `rungate.runs[${at}]`);
  });
  const deployed = own(facts, 'deployed');
  if (deployed !== undefined)
    checkFields(objectAt(deployed, 'rungate.deployed'), deploymentFields, 'rungate.deployed');
  if (worstResult(runs) !== own(predicate, 'result')) throw new Refused('its result is not that of its runs');
  return value as unknown as Statement;
}
