import * as z from 'zod/mini';
import { described } from '../contract/fields.ts';
import { parseTimestamp } from '../date-time.ts';
import { reasonOf } from './dsse.ts';
import { quoted, Refused } from './error.ts';
import type { Json } from './json.ts';
import {
  commitPattern,
  predicateType,
  results,
  type Statement,
  statementType,
  worstResult,
} from './statement.ts';

const textOrNull = z.nullable(z.string());
const numberOrNull = z.nullable(z.number());
const texts = z.readonly(z.array(z.string()));
const time = z.string().check(z.refine((text) => parseTimestamp(text) !== null));
const result = z.enum(results);

const run = z.looseObject({
  result,
  verdict: z.string(),
  runId: textOrNull,
  name: textOrNull,
  project: textOrNull,
  process: textOrNull,
  tags: z.nullable(texts),
  failed: numberOrNull,
  blocked: numberOrNull,
  appUrl: textOrNull,
});

const deployed = z.looseObject({
  url: z.string(),
  pointer: textOrNull,
  expected: z.string(),
  matches: z.nullable(z.boolean()),
  version: textOrNull,
});

const facts = z.looseObject({
  schemaVersion: z.literal(1),
  gate: z.exactOptional(z.string().check(z.minLength(1))),
  rungate: z.string(),
  ref: textOrNull,
  buildUrl: textOrNull,
  startedAt: time,
  finishedAt: time,
  runs: z.readonly(z.array(run).check(z.minLength(1))),
  deployed: z.exactOptional(deployed),
});

const commit = z.looseObject({
  name: z.exactOptional(z.string()),
  digest: z.looseObject({ gitCommit: z.string().check(z.regex(commitPattern)) }),
});

const artifact = z.looseObject({
  name: z.string(),
  digest: z.looseObject({ sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)) }),
});

const subject = z.tuple([commit], artifact).check(
  z.refine(([, ...artifacts]) => {
    const names = artifacts.map(({ name }) => name);
    return new Set(names).size === names.length;
  }, 'has two entries with the same name'),
);

const tests = z.looseObject({
  name: z.string(),
  uri: z.string(),
  annotations: z.looseObject({ rungate: facts }),
});

const configured = z.looseObject({
  name: z.exactOptional(z.string()),
  annotations: z.exactOptional(z.looseObject({ baseUrl: z.exactOptional(z.string()) })),
});

const configuration = z
  .tuple([tests], configured)
  .check(
    z.refine(
      ([, ...others]) => others.filter(({ name }) => name === 'environment').length <= 1,
      'has several environments',
    ),
  );

const predicate = z
  .looseObject({
    result,
    configuration,
    url: z.exactOptional(z.string()),
    passedTests: texts,
    warnedTests: texts,
    failedTests: texts,
  })
  .check(
    z.refine(
      (one) => one.result === worstResult(one.configuration[0].annotations.rungate.runs),
      'has another result than its runs',
    ),
  );

/** The statement of a receipt. Open, as in-toto requires. */
export const statement: z.ZodMiniType<Statement> = described(
  z.looseObject({
    _type: z.literal(statementType),
    subject,
    predicateType: z.literal(predicateType),
    predicate,
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
