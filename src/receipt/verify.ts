import { parseTimestamp } from '../date-time.ts';
import { formatDuration } from '../duration.ts';
import { type Artifact, artifactText, isExpected, type SoughtArtifact } from '../subject.ts';
import { openEnvelope, preAuthEncoding } from './dsse.ts';
import { type CheckName, quoted, Refused } from './error.ts';
import { parseObject, refuseDuplicates } from './json.ts';
import { signerOf } from './keys.ts';
import { type Expected, plainUrl } from './options.ts';
import { environmentFact, factsOf, payloadType, type Statement } from './statement.ts';
import { readStatement } from './statement-schema.ts';

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
const maxFutureMs = 60_000;

interface FactCheck {
  /** The option that asks for the check; without one, it is always made. */
  option: keyof Expected | null;
  /** @throws Refused */
  make(statement: Statement, expected: Expected): void;
}

type Fact = string | readonly string[] | null | undefined;

/** Returns a fact as one text; tags regardless of their order. */
const textOf = (fact: Fact = null): string | null =>
  fact === null || typeof fact === 'string' ? fact : JSON.stringify([...new Set(fact)].toSorted());

/** Returns a check that each of these facts is the expected one; null is a fact that the gate did not know. */
const equals = (
  option: 'repository' | 'project' | 'process' | 'tags' | 'environment' | 'baseUrl',
  facts: (statement: Statement) => readonly Fact[],
  hintOf: (statement: Statement) => string | undefined = () => undefined,
): FactCheck => ({
  option,
  make(statement, { [option]: wanted }) {
    const name = option === 'baseUrl' ? 'base URL' : option;
    const expected = textOf(wanted) ?? '';
    for (const fact of facts(statement).map(textOf)) {
      if (fact === null)
        throw new Refused(
          `it does not name the ${name}, so it may not be for ${quoted(expected)}`,
          hintOf(statement),
        );
      if (fact !== expected) throw new Refused(`it has the ${name} ${quoted(fact)}, not ${quoted(expected)}`);
    }
  },
});

const waitHint = (statement: Statement) =>
  factsOf(statement).runs.some(({ project }) => project === null)
    ? 'the command that wrote it, such as run wait, knew only run ids: write the receipt with rungate gate'
    : undefined;

/** Returns the check of a fact that every run must have. */
const runsHave = (name: 'project' | 'process' | 'tags'): FactCheck =>
  equals(name, (statement) => factsOf(statement).runs.map((run) => run[name]), waitHint);

/** Refuses artifacts without the expected one. */
function expectSubject(artifacts: readonly Artifact[], { name, sha256 }: SoughtArtifact): void {
  const found = artifacts.filter(({ digest }) => digest.sha256 === sha256);
  if (found.some((artifact) => name === null || artifact.name === name)) return;
  if (artifacts.length === 0)
    throw new Refused('it names no image and no file', 'give the gate --subject or --subject-file');
  const sought = `${name === null ? '' : `${name}@`}sha256:${sha256}`;
  const known = artifacts.map(artifactText).join(', ');
  const hint = 'the digest is the same: write the name as the receipt does, or leave it out';
  throw new Refused(
    `it is for ${quoted(known, 300)}, not ${quoted(sought, 200)}`,
    found.length > 0 ? hint : undefined,
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
    'also expect that one, or write one receipt for each image',
  );
}

/** Returns the milliseconds since the runs ended; negative if the receipt's clock is ahead. */
export const ageOf = (statement: Statement, now: number): number =>
  now - (parseTimestamp(factsOf(statement).finishedAt) ?? Number.NaN);

type Opening = 'envelope' | 'signature' | 'payload_type' | 'statement' | 'duplicate_keys';

const factChecks: Readonly<Record<Exclude<CheckName, Opening>, FactCheck>> = {
  result: {
    option: null,
    make(statement, { allowWarned }) {
      const { result } = statement.predicate;
      if (result === 'PASSED' || (result === 'WARNED' && allowWarned === true)) return;
      const runs = factsOf(statement).runs.filter((run) => run.result === result);
      const verdicts = quoted([...new Set(runs.map(({ verdict }) => verdict))].join(', '));
      const hint = `the gate's policy lets ${verdicts} pass with a warning; to accept that, use --allow-warned (in the library: allowWarned)`;
      throw new Refused(`its result is ${result}`, result === 'WARNED' ? hint : undefined);
    },
  },
  commit: {
    option: 'commit',
    make({ subject: [{ digest }] }, { commit }) {
      if (digest.gitCommit !== commit)
        throw new Refused(`it is for commit ${digest.gitCommit}, not ${commit}`);
    },
  },
  subject: {
    option: 'subjects',
    make({ subject: [, ...artifacts] }, { subjects = [] }) {
      for (const sought of subjects) expectSubject(artifacts, sought);
    },
  },
  repository: equals('repository', ({ subject: [{ name }] }) => [name]),
  project: runsHave('project'),
  process: runsHave('process'),
  tags: runsHave('tags'),
  environment: equals('environment', (statement) => [environmentFact(statement, 'key')], waitHint),
  base_url: equals(
    'baseUrl',
    (statement) => {
      const baseUrl = environmentFact(statement, 'baseUrl');
      return [baseUrl && (plainUrl(baseUrl) ?? baseUrl)];
    },
    () => 'only a gate with --base-url names it',
  ),
  deployed: {
    option: 'requireDeployed',
    make(statement, { subjects }) {
      const { deployed } = factsOf(statement);
      if (deployed === undefined)
        throw new Refused(
          'its gate did not check which build was deployed',
          'give the gate the page that shows which build is deployed: --deployed-url <url>',
        );
      if (deployed.matches !== true)
        throw new Refused(`its gate could not confirm that ${quoted(deployed.expected)} was deployed`);
      expectShown(statement.subject, deployed.expected, subjects);
    },
  },
  age: {
    option: null,
    make(statement, { maxAgeMs, now }) {
      const { finishedAt } = factsOf(statement);
      const ageMs = ageOf(statement, now);
      if (!(ageMs >= -maxFutureMs))
        throw new Refused(`its time ${finishedAt} is in the future`, 'check the clocks of both machines');
      if (maxAgeMs !== undefined && !(ageMs <= maxAgeMs))
        throw new Refused(`it is ${formatDuration(ageMs)} old, more than ${formatDuration(maxAgeMs)}`);
    },
  },
};

const isAsked = (option: keyof Expected | null, expected: Expected) =>
  option === null || (expected[option] ?? false) !== false;

/**
 * Makes all checks of a receipt in their order. After a failed one, those that rest on it are skipped: nothing of a receipt
 * is read as a fact before a trusted key has vouched for it.
 */
export function examine(bytes: Uint8Array, expected: Expected): Examination {
  const checks: Check[] = [];
  /** Makes a check of a value, and returns what the next one needs. Skips it without the value. */
  function make<Given, Next>(
    check: CheckName,
    given: Given | undefined,
    work: (given: Given) => Next,
  ): Next | undefined {
    const outcome: Check = { check, status: given === undefined ? 'skipped' : 'passed', reason: null };
    checks.push(outcome);
    if (given === undefined) return undefined;
    try {
      return work(given);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      Object.assign(outcome, { status: 'failed', reason: error.message, hint: error.hint });
      return undefined;
    }
  }
  let keyId: string | null = null;
  const envelope = make('envelope', bytes, openEnvelope);
  const signed = make('signature', envelope, ({ payload, payloadType: type, signatures }) => {
    const signer = signerOf(expected.keys, preAuthEncoding(type, payload), signatures);
    if (signer === null) throw new Refused('none of the trusted keys signed it');
    keyId = signer.id;
    return { payload, type };
  });
  const payload = make('payload_type', signed, ({ payload, type }) => {
    if (type !== payloadType) throw new Refused(`its payload is ${quoted(type)}, not "${payloadType}"`);
    return payload;
  });
  const content = make('statement', payload, (payload) => {
    const { text, value } = parseObject(payload, 'the statement');
    return { text, statement: readStatement(value) };
  });
  const statement = make('duplicate_keys', content, ({ text, statement }) => {
    refuseDuplicates(text, 'the statement');
    return statement;
  });
  for (const [check, { option, make: makeOne }] of Object.entries(factChecks))
    make(check as CheckName, isAsked(option, expected) ? statement : undefined, (one) =>
      makeOne(one, expected),
    );
  return { checks, keyId, statement: statement ?? null };
}
