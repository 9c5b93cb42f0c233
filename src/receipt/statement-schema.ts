import * as z from 'zod/mini';
import { parseTimestamp } from '../date-time.ts';
import { quoted } from './error.ts';
import { type Json, readAs } from './json.ts';
import {
  commitPattern,
  predicateType,
  results,
  type Statement,
  statementType,
  worstResult,
} from './statement.ts';

const text = z.string();
const textOrNull = z.nullable(text);
const numberOrNull = z.nullable(z.number());
const texts = z.readonly(z.array(text));
const time = text.check(z.refine((at) => parseTimestamp(at) !== null));
const result = z.enum(results);

const type = <Type extends string>(expected: Type) =>
  z.literal(expected, {
    error: ({ input }) => `is ${typeof input === 'string' ? quoted(input) : 'missing'}, not "${expected}"`,
  });

const run = z.looseObject({
  result,
  verdict: text,
  runId: textOrNull,
  name: textOrNull,
  project: textOrNull,
  process: textOrNull,
  tags: z.nullable(texts),
  failed: numberOrNull,
  blocked: numberOrNull,
  appUrl: textOrNull,
});

const facts = z.looseObject({
  schemaVersion: z.literal(1),
  gate: z.exactOptional(text.check(z.minLength(1))),
  rungate: text,
  ref: textOrNull,
  buildUrl: textOrNull,
  startedAt: time,
  finishedAt: time,
  runs: z.readonly(z.array(run).check(z.minLength(1))),
  deployed: z.exactOptional(
    z.looseObject({
      url: text,
      pointer: textOrNull,
      expected: text,
      matches: z.nullable(z.boolean()),
      version: textOrNull,
    }),
  ),
});

const commit = z.looseObject({
  name: z.exactOptional(text),
  digest: z.looseObject({ gitCommit: text.check(z.regex(commitPattern)) }),
});

const artifact = z.looseObject({
  name: text,
  digest: z.looseObject({ sha256: text.check(z.regex(/^[0-9a-f]{64}$/)) }),
});

const tests = z.looseObject({ name: text, uri: text, annotations: z.looseObject({ rungate: facts }) });

const configured = z.looseObject({
  name: z.exactOptional(text),
  annotations: z.exactOptional(z.looseObject({ baseUrl: z.exactOptional(text) })),
});

const predicate = z.looseObject({
  result,
  configuration: z
    .tuple([tests], configured)
    .check(
      z.refine(
        ([, ...others]) => others.filter(({ name }) => name === 'environment').length <= 1,
        'has several environments',
      ),
    ),
  url: z.exactOptional(text),
  passedTests: texts,
  warnedTests: texts,
  failedTests: texts,
});

/** Open, as in-toto requires. The types of the statement are written out, since published types must not name zod. */
const statement: z.ZodMiniType<Statement> = z.looseObject({
  _type: type(statementType),
  predicateType: type(predicateType),
  subject: z
    .tuple([commit], artifact)
    .check(
      z.refine(
        ([, ...artifacts]) => new Set(artifacts.map(({ name }) => name)).size === artifacts.length,
        'has two entries with the same name',
      ),
    ),
  predicate: predicate.check(
    z.refine(
      (one) => one.result === worstResult(one.configuration[0].annotations.rungate.runs),
      'has a result that differs from its runs',
    ),
  ),
});

/** Checks that a JSON object is the statement of a receipt, and returns it. @throws Refused */
export function readStatement(value: Json): Statement {
  readAs(statement, value);
  // The checked value, since the parsed copy has a prototype.
  return value as unknown as Statement;
}
