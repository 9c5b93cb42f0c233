import { parseTimestamp } from '../date-time.ts';
import { formatDuration } from '../duration.ts';
import { parseUrl } from '../parse-url.ts';
import { type Artifact, artifactText, isExpected, type SoughtArtifact } from '../subject.ts';
import { openEnvelope, preAuthEncoding } from './dsse.ts';
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

/** The checks that open a receipt, each of which needs the one before. */
const opening = ['envelope', 'signature', 'payload_type', 'statement', 'duplicate_keys'] as const;
type OpeningCheck = (typeof opening)[number];

/** The facts about a receipt: the check that was begun last, why that refused, the signer, and after all of them the statement. */
interface Opened {
  at: OpeningCheck;
  refused: Refused | null;
  keyId: string | null;
  statement: Statement | null;
}

function open(bytes: Uint8Array, keys: readonly Key[]): Opened {
  const known: Opened = { at: 'envelope', refused: null, keyId: null, statement: null };
  try {
    const { payload, signatures, payloadType: type } = openEnvelope(bytes);
    known.at = 'signature';
    const signer = signerOf(keys, preAuthEncoding(type, payload), signatures);
    if (signer === null) throw new Refused('none of the trusted keys signed it');
    known.keyId = signer.id;
    known.at = 'payload_type';
    if (type !== payloadType) throw new Refused(`its payload is ${quoted(type)}, not "${payloadType}"`);
    known.at = 'statement';
    const { text, value } = parseObject(payload, 'the statement');
    const statement = readStatement(value);
    known.at = 'duplicate_keys';
    refuseDuplicates(text, 'the statement');
    known.statement = statement;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    known.refused = error;
  }
  return known;
}

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

const factChecks: Readonly<Record<Exclude<CheckName, OpeningCheck>, FactCheck>> = {
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
  // Otherwise a polluted prototype could leave out a check that is always made.
  const name = Object.hasOwn(optional, check) ? optional[check] : undefined;
  return name === undefined || (expected[name] ?? false) !== false;
}

const check = (name: CheckName, status: Check['status'], refused?: Refused): Check => ({
  check: name,
  status,
  reason: refused?.message ?? null,
  hint: refused?.hint,
});

function outcomeOf(name: CheckName, make: () => void): Check {
  try {
    make();
    return check(name, 'passed');
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return check(name, 'failed', error);
  }
}

/**
 * Makes all checks of a receipt in their order. After a failed one, those that rest on it are skipped: nothing of a receipt
 * is read as a fact before a trusted key has vouched for it.
 */
export function examine(bytes: Uint8Array, expected: Expected): Examination {
  const { at, refused, keyId, statement } = open(bytes, expected.keys);
  const last = opening.indexOf(at);
  const opened = opening.map((name, nth) => {
    if (refused !== null && nth === last) return check(name, 'failed', refused);
    return check(name, nth > last ? 'skipped' : 'passed');
  });
  const facts = (Object.entries(factChecks) as [CheckName, FactCheck][]).map(([name, make]) =>
    statement === null || !isAsked(name, expected)
      ? check(name, 'skipped')
      : outcomeOf(name, () => make(statement, expected)),
  );
  return { checks: [...opened, ...facts], keyId, statement };
}
