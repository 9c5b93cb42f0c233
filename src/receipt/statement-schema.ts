import * as z from 'zod/mini';
import { described as field } from '../contract/fields.ts';
import { parseTimestamp } from '../date-time.ts';
import { reasonOf } from './dsse.ts';
import { quoted, Refused } from './error.ts';
import type { Json } from './json.ts';
import {
  commitPattern,
  predicateType,
  type ReceiptDeployment,
  type ReceiptFacts,
  type ReceiptRun,
  results,
  type Statement,
  statementType,
  worstResult,
} from './statement.ts';

const text = (about: string) => field(z.string(), about);
const textOrNull = (about: string) => field(z.nullable(z.string()), about);
const numberOrNull = (about: string) => field(z.nullable(z.number()), about);
const list = <Item extends z.ZodMiniType>(item: Item, about: string) =>
  field(z.readonly(z.array(item)), about);
const time = (about: string) =>
  field(z.string().check(z.refine((text) => parseTimestamp(text) !== null)), about);
const result = field(
  z.enum(results),
  "`WARNED`: it did not pass, or only on a retry, but the gate's policy let it through.",
);

const run: z.ZodMiniType<ReceiptRun> = z.looseObject({
  result,
  verdict: text("The run's verdict."),
  runId: textOrNull("The run's id."),
  name: textOrNull("The run's name in reports."),
  project: textOrNull("The project's slug."),
  process: textOrNull("The process's slug."),
  tags: field(
    z.nullable(z.readonly(z.array(z.string()))),
    'The tags that started the run; null for a run of a process.',
  ),
  failed: numberOrNull('The number of failed items.'),
  blocked: numberOrNull('The number of blocked items.'),
  appUrl: textOrNull("The URL of the run's page."),
});

const deployment: z.ZodMiniType<ReceiptDeployment> = z.looseObject({
  url: text('The URL of the version page, without its query.'),
  pointer: textOrNull('The JSON pointer of the version; null if the whole page is the version.'),
  expected: text(
    'The expected version that the page showed; before that, every one that would match, separated by ` or `.',
  ),
  matches: field(
    z.nullable(z.boolean()),
    'Whether the runs tested only the expected build; null if unknown.',
  ),
  version: textOrNull('The version that the gate read last; null if that read failed.'),
});

const facts: z.ZodMiniType<ReceiptFacts> = field(
  z.looseObject({
    schemaVersion: field(z.literal(1), 'The version of the facts.'),
    gate: field(
      z.exactOptional(z.string().check(z.minLength(1))),
      "The gate's name in the project file; absent for a gate without a name.",
    ),
    rungate: text('The version of rungate that wrote the receipt.'),
    ref: textOrNull('The branch or ref.'),
    buildUrl: textOrNull('The URL of the CI build.'),
    startedAt: time('When the gate began, RFC 3339.'),
    finishedAt: time('When the runs had ended, RFC 3339. The age of a receipt counts from here.'),
    runs: field(z.readonly(z.array(run).check(z.minLength(1))), 'The runs that decided.'),
    deployed: field(z.exactOptional(deployment), 'The deployed build; absent if the gate did not check it.'),
  }),
  "The gate's facts.",
);

const commit = z.looseObject({
  name: field(z.exactOptional(z.string()), 'The repository.'),
  digest: field(
    z.looseObject({ gitCommit: field(z.string().check(z.regex(commitPattern)), 'The whole commit.') }),
    'The digests of the commit.',
  ),
});

const artifact = z.looseObject({
  name: text('The name of an image or a file that was tested.'),
  digest: field(
    z.looseObject({ sha256: field(z.string().check(z.regex(/^[0-9a-f]{64}$/)), 'SHA-256 in hex.') }),
    'Its digests.',
  ),
});

const tests = z.looseObject({
  name: text("The run's name in reports."),
  uri: text('The service that ran the tests.'),
  annotations: field(z.looseObject({ rungate: facts }), 'The annotations of the configuration.'),
});

const configured = z.looseObject({
  name: field(z.exactOptional(z.string()), '`environment` or `policy`.'),
  annotations: field(
    z.exactOptional(
      z.looseObject({
        baseUrl: field(
          z.exactOptional(z.string()),
          'The URL of the preview deployment that was tested, without its query.',
        ),
      }),
    ),
    'The facts about the environment.',
  ),
});

/** Tells whether no two entries have a name of these. */
const areDistinct = (names: readonly (string | undefined)[]) => new Set(names).size === names.length;

/** The statement of a receipt. Open, as in-toto requires. */
export const statement: z.ZodMiniType<Statement> = field(
  z.looseObject({
    _type: field(z.literal(statementType), 'The type of an in-toto statement, version 1.'),
    subject: field(
      z
        .tuple([commit], artifact)
        .check(
          z.refine(
            ([, ...artifacts]) => areDistinct(artifacts.map(({ name }) => name)),
            'has two entries with the same name',
          ),
        ),
      'The commit that was tested; then the images and files.',
    ),
    predicateType: field(z.literal(predicateType), 'The type of a test-result predicate, version 0.1.'),
    predicate: field(
      z
        .looseObject({
          result,
          configuration: field(
            z
              .tuple([tests], configured)
              .check(
                z.refine(
                  ([, ...others]) => others.filter(({ name }) => name === 'environment').length <= 1,
                  'has several environments',
                ),
              ),
            'The configuration of the tests.',
          ),
          url: field(z.exactOptional(z.string()), "The URL of the run's page, if there is only one run."),
          passedTests: list(z.string(), 'The names of the runs that passed.'),
          warnedTests: list(z.string(), 'The names of the runs that the policy let through.'),
          failedTests: list(z.string(), 'The names of the runs that failed.'),
        })
        .check(
          z.refine(
            ({ result, configuration }) => result === worstResult(configuration[0].annotations.rungate.runs),
            'has another result than its runs',
          ),
        ),
      'The result of the tests.',
    ),
  }),
  'An in-toto statement about the commit.',
);

/**
 * Checks that a JSON object is the statement of a receipt, and returns it. Unknown fields are allowed, as in-toto requires.
 * @throws Refused
 */
export function readStatement(value: Json): Statement {
  const types = { _type: statementType, predicateType };
  for (const [name, expected] of Object.entries(types)) {
    const given = value[name];
    if (given === expected) continue;
    const shown = typeof given === 'string' ? quoted(given) : 'missing';
    throw new Refused(`its ${name} is ${shown}, not "${expected}"`);
  }
  const { error } = statement.safeParse(value);
  if (error !== undefined) throw new Refused(reasonOf(error));
  // The checked value, since the parsed copy has a prototype.
  return value as unknown as Statement;
}
