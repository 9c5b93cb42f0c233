import { parseTimestamp } from '../date-time.ts';
import { formatDuration } from '../duration.ts';
import { parseUrl } from '../parse-url.ts';
import { type Artifact, artifactText, isExpected, type SoughtArtifact } from '../subject.ts';
import { type OpenEnvelope, openEnvelope, preAuthEncoding } from './dsse.ts';
import { type CheckName, quoted, Refused } from './error.ts';
import { parseObject, refuseDuplicates } from './json.ts';
import { type Key, signerOf } from './keys.ts';
import { baseUrlOf, environmentOf, factsOf, payloadType, type Statement } from './statement.ts';
import { readStatement } from './statement-schema.ts';

/** The facts that a receipt must have. An undefined fact is not checked. */
export interface Expected {
  keys: readonly Key[];
  /** A whole commit in lower case. */
  commit?: string | undefined;
  /** Each must be a subject. */
  subjects?: readonly SoughtArtifact[] | undefined;
  repository?: string | undefined;
  project?: string | undefined;
  process?: string | undefined;
  tags?: readonly string[] | undefined;
  environment?: string | undefined;
  /** A URL that `plainUrl` accepts. */
  baseUrl?: string | undefined;
  /** Whether the gate must have checked which build was deployed. */
  requireDeployed?: boolean | undefined;
  /** In milliseconds. */
  maxAgeMs?: number | undefined;
  allowWarned?: boolean | undefined;
  /** Milliseconds since the epoch. */
  now: number;
}

/**
 * Returns one text for all spellings of a URL: `https://shop.example.com/` for `HTTPS://Shop.example.com:443`. Null for anything
 * but an http or https URL without a user name, a query and a fragment.
 */
export function plainUrl(text: unknown): string | null {
  // Parsers disagree on a backslash, and URL parsers ignore line breaks.
  if (typeof text !== 'string' || !/^https?:\/\/[^?#\\\s]+$/i.test(text.trim())) return null;
  const url = parseUrl(text.trim());
  return url?.username === '' && url.password === '' ? url.href : null;
}

/** The outcome of one check. `skipped`: the caller did not ask for it, or an earlier check failed. */
export interface Check {
  check: CheckName;
  status: 'passed' | 'failed' | 'skipped';
  /** Why it failed; otherwise null. */
  reason: string | null;
  hint?: string | undefined;
}

/** The result of all checks. */
export interface Examination {
  checks: readonly Check[];
  /** The trusted key that signed, or null. */
  keyId: string | null;
  /** The statement, if a trusted key signed it and it is well-formed; otherwise null. */
  statement: Statement | null;
}

/** How far a receipt's time may be ahead of the clock: the clocks of two machines differ. */
export const maxFutureMs = 60_000;

/** The state of the checks that open a receipt; each needs the one before. */
interface Opening {
  readonly bytes: Uint8Array;
  readonly keys: readonly Key[];
  envelope: OpenEnvelope;
  keyId: string;
  text: string;
  statement: Statement;
}

const opening = {
  envelope(state) {
    state.envelope = openEnvelope(state.bytes);
  },
  signature(state) {
    const { payload, signatures, payloadType } = state.envelope;
    const signer = signerOf(state.keys, preAuthEncoding(payloadType, payload), signatures);
    if (signer === null) throw new Refused('none of the trusted keys signed it');
    state.keyId = signer.id;
  },
  payload_type({ envelope }) {
    if (envelope.payloadType !== payloadType)
      throw new Refused(`its payload is ${quoted(envelope.payloadType)}, not "${payloadType}"`);
  },
  statement(state) {
    const { text, value } = parseObject(state.envelope.payload, 'the statement');
    state.text = text;
    state.statement = readStatement(value);
  },
  duplicate_keys({ text }) {
    refuseDuplicates(text, 'the statement');
  },
} as const satisfies Readonly<Partial<Record<CheckName, (state: Opening) => void>>>;

/** Refuses a fact other than the expected one; null is a fact that the gate did not know. */
function expectFact(name: string, fact: string | null, expected: string, hint?: string): void {
  if (fact === expected) return;
  throw new Refused(
    fact === null
      ? `it does not name the ${name}, so it may be for another than ${quoted(expected)}`
      : `it has the ${name} ${quoted(fact)}, not ${quoted(expected)}`,
    hint,
  );
}

/** Refuses artifacts without the expected one. */
function expectSubject(artifacts: readonly Artifact[], { name, sha256 }: SoughtArtifact): void {
  const found = artifacts.filter(({ digest }) => digest.sha256 === sha256);
  if (found.some((artifact) => name === null || artifact.name === name)) return;
  if (artifacts.length === 0)
    throw new Refused('it names no image and no file', 'give the gate --subject or --subject-file');
  const sought = `${name === null ? '' : `${name}@`}sha256:${sha256}`;
  const known = artifacts.map(artifactText).join(', ');
  throw new Refused(
    `it is for ${quoted(known, 300)}, not ${quoted(sought, 200)}`,
    found.length > 0
      ? 'the digest is the same: write the name as the receipt does, or leave it out'
      : undefined,
  );
}

/** Refuses a version that is neither the commit nor an expected image of the receipt. */
function expectShown(
  [{ digest: tested }, ...artifacts]: Statement['subject'],
  version: string,
  expected: readonly SoughtArtifact[] | undefined,
): void {
  if (isExpected(version, tested.gitCommit)) return;
  const shown = artifacts.filter(({ digest }) => isExpected(version, `sha256:${digest.sha256}`));
  const [other] = shown;
  if (other === undefined)
    throw new Refused(
      `its gate expected the version ${quoted(version)}, which is neither its commit nor one of its subjects`,
      'leave out --deployed-is: the page is then compared with the commit and the subjects',
    );
  const isSought = ({ digest }: Artifact) => expected?.some(({ sha256 }) => sha256 === digest.sha256) ?? true;
  if (shown.some(isSought)) return;
  throw new Refused(
    `its gate saw ${quoted(artifactText(other), 300)} deployed`,
    'expect that one, too, or write one receipt for each image',
  );
}

/** Returns tags as one text, regardless of their order. */
const tagText = (tags: readonly string[] | null) => tags && JSON.stringify([...new Set(tags)].toSorted());

/** Returns the milliseconds since the runs ended; negative if the receipt's clock is ahead. */
export const ageOf = (statement: Statement, now: number): number =>
  now - (parseTimestamp(factsOf(statement).finishedAt) ?? Number.NaN);

const waitHint =
  'its gate, such as run wait, knew only the ids of its runs: write the receipt with rungate gate';
const hintOf = (statement: Statement) =>
  factsOf(statement).runs.some(({ project }) => project === null) ? waitHint : undefined;

type FactCheck = (statement: Statement, expected: Expected) => void;

/** Returns the check of a fact that every run of the receipt must have. */
const runFact =
  (name: 'project' | 'process' | 'tags'): FactCheck =>
  (statement, { [name]: expected }) => {
    const text = (fact: string | readonly string[] | null = null) =>
      fact === null || typeof fact === 'string' ? fact : tagText(fact);
    for (const run of factsOf(statement).runs)
      expectFact(name, text(run[name]), text(expected) ?? '', hintOf(statement));
  };

const factChecks: Readonly<Record<Exclude<CheckName, keyof typeof opening>, FactCheck>> = {
  result(statement, { allowWarned }) {
    const { result } = statement.predicate;
    if (result === 'PASSED' || (result === 'WARNED' && allowWarned === true)) return;
    const runs = factsOf(statement).runs.filter((run) => run.result === result);
    const verdicts = [...new Set(runs.map(({ verdict }) => verdict))].join(', ');
    const hint = `the gate's policy lets ${quoted(verdicts)} pass with a warning; to accept that, use --allow-warned (in the library allowWarned)`;
    throw new Refused(`its result is ${result}`, result === 'WARNED' ? hint : undefined);
  },
  commit({ subject: [{ digest }] }, { commit }) {
    if (digest.gitCommit !== commit) throw new Refused(`it is for commit ${digest.gitCommit}, not ${commit}`);
  },
  subject({ subject: [, ...artifacts] }, { subjects = [] }) {
    for (const sought of subjects) expectSubject(artifacts, sought);
  },
  repository({ subject: [subject] }, { repository = '' }) {
    const { name = null } = subject;
    const hint = name === null ? undefined : 'write the repository as the receipt does';
    expectFact('repository', name, repository, hint);
  },
  project: runFact('project'),
  process: runFact('process'),
  tags: runFact('tags'),
  environment(statement, { environment = '' }) {
    expectFact('environment', environmentOf(statement), environment, hintOf(statement));
  },
  base_url(statement, { baseUrl = '' }) {
    const named = baseUrlOf(statement);
    const hint = named === null ? 'only a gate with --base-url names it' : undefined;
    expectFact('base URL', named && (plainUrl(named) ?? named), plainUrl(baseUrl) ?? baseUrl, hint);
  },
  deployed(statement, { subjects }) {
    const { deployed } = factsOf(statement);
    if (deployed?.matches === true) return expectShown(statement.subject, deployed.expected, subjects);
    const hint = 'give the gate the page that shows which build is deployed: --deployed-url <url>';
    throw new Refused(
      deployed === undefined
        ? 'its gate did not check which build was deployed'
        : `its gate is not sure that ${quoted(deployed.expected)} was deployed`,
      deployed === undefined ? hint : undefined,
    );
  },
  age(statement, { maxAgeMs, now }) {
    const { finishedAt } = factsOf(statement);
    const ageMs = ageOf(statement, now);
    if (!(ageMs >= -maxFutureMs))
      throw new Refused(`its time ${finishedAt} is in the future`, 'check the clocks of both machines');
    if (maxAgeMs !== undefined && !(ageMs <= maxAgeMs))
      throw new Refused(`it is ${formatDuration(ageMs)} old, more than ${formatDuration(maxAgeMs)}`);
  },
};

/** The checks that are only made with an option, by its name. */
const optional: Readonly<Partial<Record<CheckName, keyof Expected>>> = {
  commit: 'commit',
  subject: 'subjects',
  repository: 'repository',
  project: 'project',
  process: 'process',
  tags: 'tags',
  environment: 'environment',
  base_url: 'baseUrl',
  deployed: 'requireDeployed',
};

function isAsked(check: CheckName, expected: Expected): boolean {
  const name = optional[check];
  return name === undefined || (expected[name] ?? false) !== false;
}

function outcomeOf(check: CheckName, make: () => void): Check {
  try {
    make();
    return { check, status: 'passed', reason: null };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { check, status: 'failed', reason: error.message, hint: error.hint };
  }
}

const skipped = (check: CheckName): Check => ({ check, status: 'skipped', reason: null });

/**
 * Makes all checks of a receipt in their order. After a failed one, those that rest on it are skipped: nothing of a receipt
 * is read as a fact before a trusted key has vouched for it.
 */
export function examine(bytes: Uint8Array, expected: Expected): Examination {
  const state = { bytes, keys: expected.keys } as Opening;
  const checks: Check[] = [];
  let open = true;
  for (const check of Object.keys(opening) as (keyof typeof opening)[]) {
    const outcome: Check = open ? outcomeOf(check, () => opening[check](state)) : skipped(check);
    open &&= outcome.status === 'passed';
    checks.push(outcome);
  }
  const statement = open ? state.statement : null;
  for (const [check, make] of Object.entries(factChecks) as [CheckName, FactCheck][]) {
    const isMade = statement !== null && isAsked(check, expected);
    checks.push(isMade ? outcomeOf(check, () => make(statement, expected)) : skipped(check));
  }
  return { checks, keyId: (state as Partial<Opening>).keyId ?? null, statement };
}
