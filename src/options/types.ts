import * as z from 'zod/mini';
import { durationText, readDuration } from '../duration.ts';
import { ConfigError, UsageError } from '../errors.ts';
import { mostRetries } from '../gate/limits.ts';
import {
  type Action,
  actions,
  actionsFor,
  checkOverride,
  type Overrides,
  settableVerdicts,
} from '../gate/policy.ts';
import { artifactsOf, parseArtifact, repeatedName } from '../subject.ts';
import { nearest } from '../suggest.ts';
import { mayHaveQuery, parseApiUrl, receiver } from '../transport/address.ts';

/** The type of an option: how its value is written in a file, as text and in a JSON schema. */
export interface OptionType<Value> {
  readonly kind:
    | 'text'
    | 'list'
    | 'switch'
    | 'choice'
    | 'count'
    | 'duration'
    | 'url'
    | 'pointer'
    | 'overrides';
  /** The name of such a value, for messages: `a duration`. */
  readonly is: string;
  /** How to write one: `write a number …`. */
  readonly write: string;
  /** Checks and reads the JSON of a file. */
  readonly schema: z.ZodMiniType<Value>;
  /** Turns the text of an option, a variable or an input into the JSON of a file; if absent, the text is that JSON. */
  fromText?(text: string): unknown;
  /** Turns a value into the JSON of a file; if absent, the value is that JSON. */
  toJson?(value: Value): unknown;
  readonly jsonSchema: Readonly<Record<string, unknown>>;
  readonly words?: readonly string[];
}

/** Tells whether a value is a non-blank string on one line, fit for a URL, a header or a field of a request. */
function isLine(json: unknown): json is string {
  return typeof json === 'string' && /\S/.test(json) && !/[\u0000-\u001f\u007f-\u009f]/.test(json);
}

function matching(is: string, such: string, pattern: RegExp): OptionType<string> {
  const expected = `expected ${is}${such}`;
  return {
    kind: 'text',
    is,
    write: `write ${is}${such}`,
    schema: z.custom<string>((json) => isLine(json) && pattern.test(json), expected),
    jsonSchema: { type: 'string', pattern: pattern.source },
  };
}

export const text: OptionType<string> = {
  ...matching('a non-empty string on one line', '', /\S/),
  jsonSchema: { type: 'string', pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f]+$' },
};

export const headerName = matching('a header name', ', such as X-Signature', /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/);

export const pointer: OptionType<string> = {
  ...matching('a JSON pointer', ', such as /version or /data/runId', /^\//),
  kind: 'pointer',
};

/**
 * @param setting the name of the setting, for hints
 * @param other another form of the value, and its name
 */
export function url(
  server: Parameters<typeof receiver>[0],
  setting: string,
  other?: { pattern: RegExp; is: string },
): OptionType<string> {
  const is = `the URL of the ${server}${other === undefined ? '' : ` or ${other.is}`}`;
  const such = `such as https://${server}.example.com`;
  const pattern = `^\\s*[Hh][Tt][Tt][Pp][Ss]?://[^\\s${mayHaveQuery(server) ? '' : '?'}#@]+\\s*$`;
  return {
    kind: 'url',
    is,
    write: `write it ${such}`,
    schema: z.pipe(
      z.custom<string>(isLine, `expected ${is}, ${such}`),
      z.transform((address, { issues }) => {
        if (other?.pattern.test(address.trim())) return address.trim();
        try {
          // Whether http is allowed depends on the command line, and is checked before anything is sent.
          parseApiUrl(address, { ...receiver(server, String), address: setting, credential: '' }, true);
        } catch (error) {
          if (!(error instanceof ConfigError)) throw error;
          const params = { hint: error.hint };
          issues.push({ code: 'custom', message: error.message, input: address, params });
        }
        return address.trim();
      }),
    ),
    jsonSchema:
      other === undefined
        ? { type: 'string', format: 'uri', pattern }
        : { type: 'string', pattern: `${pattern}|${other.pattern.source}` },
  };
}

/** A page that may be given by its path at the deployment. */
export const belowDeployment = { pattern: /^\/(?![/\\])[^\s#]*$/, is: 'its path at the deployment' };

export const onOff: OptionType<boolean> = {
  kind: 'switch',
  is: 'true or false',
  write: 'write true or false',
  schema: z.boolean('expected true or false, without quotes'),
  fromText: (word) =>
    ({ true: true, yes: true, on: true, 1: true, false: false, no: false, off: false, 0: false })[
      word.trim().toLowerCase()
    ] ?? word,
  jsonSchema: { type: 'boolean' },
};

export function choiceOf<const Word extends string>(words: readonly Word[]): OptionType<Word> {
  const is = `one of ${words.join(', ')}`;
  return {
    kind: 'choice',
    is,
    write: `write ${is}`,
    schema: z.enum(words, { error: ({ input }) => `expected ${is}${suggestion(input, words)}` }),
    words,
    jsonSchema: { enum: words },
  };
}

/** Suggests the nearest valid word. Never repeats the value itself, which may be a misplaced secret. */
function suggestion(given: unknown, words: readonly string[]): string {
  const near = typeof given === 'string' ? nearest(given, words) : null;
  return near === null ? '' : `; did you mean ${JSON.stringify(near)}?`;
}

/**
 * Reads a number. A larger one than the maximum is refused with a hint that names it.
 * @param numberIn returns NaN for anything else
 */
function upTo(maximum: number, largest: string, message: string, numberIn: (json: unknown) => number) {
  return z.transform((json: unknown, { issues }) => {
    const number = numberIn(json);
    if (number <= maximum) return number;
    const params = number > maximum ? { hint: `the largest value is ${largest}` } : undefined;
    issues.push({ code: 'custom', message, input: json, params });
    return z.NEVER;
  });
}

function countBetween(minimum: number, maximum: number, range: string): OptionType<number> {
  const is = `a whole number ${range}`;
  return {
    kind: 'count',
    is,
    write: `write ${is}`,
    schema: upTo(maximum, String(maximum), `expected ${is}, without quotes`, (json) =>
      Number.isInteger(json) && Number(json) >= minimum ? Number(json) : Number.NaN,
    ),
    fromText: (word) => (/^\d{1,15}$/.test(word.trim()) ? Number(word) : word),
    jsonSchema: { type: 'integer', minimum, maximum },
  };
}

/** The largest count of a file. The library also takes more, and Infinity. */
export const largestCount = 999_999_999;
export const count = countBetween(1, largestCount, 'of 1 or more');
export const retryCount = countBetween(0, mostRetries, `from 0 to ${mostRetries}`);

/** 31 years: longer than any wait, and small enough that arithmetic cannot overflow. */
const maxSeconds = 1e9;
const maxHours = Math.floor(maxSeconds / 3600);

function millisecondsOf(json: unknown): number {
  const ms = typeof json === 'number' ? json * 1000 : typeof json === 'string' ? readDuration(json) : null;
  return ms !== null && ms > 0 ? ms : Number.NaN;
}

export const duration: OptionType<number> = {
  kind: 'duration',
  is: 'a duration',
  write:
    'write a number above 0 with ms, s, m, h or d, such as 250ms, 10s, 5m, 1h; a number without a unit is in seconds',
  schema: upTo(
    maxSeconds * 1000,
    `${maxHours}h`,
    'expected a duration above 0, such as "250ms", "10s", "5m" or "1h", or a number of seconds',
    millisecondsOf,
  ),
  toJson: durationText,
  jsonSchema: {
    anyOf: [
      { type: 'number', exclusiveMinimum: 0, maximum: maxSeconds },
      { type: 'string', pattern: '^\\s*(?=[^1-9]*[1-9])(\\d+(\\.\\d+)?|\\.\\d+)(ms|s|m|h|d)?\\s*$' },
    ],
  },
};

/** Splits names that are separated by commas or line breaks. */
export const splitNames = (words: string) =>
  words
    .split(/[,\n]/)
    .map((word) => word.trim())
    .filter((word) => word !== '');

const listExpected = 'expected a list of strings, such as ["smoke", "nightly"]';

function listType(minimum: number) {
  return z.pipe(
    z.transform((json: unknown, { issues }) => {
      if (Array.isArray(json) && json.length >= minimum) return json;
      const params = { hint: isLine(json) ? 'one name also needs a list: ["smoke"]' : undefined };
      issues.push({ code: 'custom', message: listExpected, input: json, params });
      return z.NEVER;
    }),
    z.array(text.schema),
  );
}

/** A list of names, which may be empty. */
export const nameList: OptionType<readonly string[]> = {
  kind: 'list',
  is: 'a list of names',
  write: 'write names, separated by commas',
  schema: listType(0),
  fromText: splitNames,
  jsonSchema: { type: 'array', items: text.jsonSchema },
};

export const filledList: OptionType<readonly string[]> = {
  ...nameList,
  schema: listType(1),
  jsonSchema: { ...nameList.jsonSchema, minItems: 1 },
};

/** A list of which each option gives one item as it is: a path or a name may contain a comma. */
export const items: OptionType<readonly string[]> = {
  ...filledList,
  write: 'write one path or name, and repeat the option for another',
  fromText: (item) => [item],
};

const subjectExpected = 'expected <name>@sha256:<64 hex digits>';

export const subjects: OptionType<readonly string[]> = {
  ...items,
  is: 'a list of subjects',
  write: 'give the digest of the image, because its tag can move; repeat the option for another one',
  schema: z
    .pipe(
      nameList.schema,
      z.array(
        z.custom<string>((json) => typeof json === 'string' && parseArtifact(json) !== null, subjectExpected),
      ),
    )
    .check(
      z.refine((texts) => repeatedName(artifactsOf(texts)) === undefined, {
        error: 'two subjects have the same name',
        params: { hint: 'give each a different name: policies find a subject by its name' },
      }),
    ),
  jsonSchema: {
    type: 'array',
    items: {
      type: 'string',
      pattern: '^(?!.*@[Ss][Hh][Aa]256:.*@[Ss][Hh][Aa]256:)\\s*\\S.*@[Ss][Hh][Aa]256:[0-9A-Fa-f]{64}\\s*$',
    },
  },
};

export const linesIn = (text: string) => text.split(/\r?\n/).filter((line) => line.trim() !== '');

/** Secrets, one per line. Whitespace around a secret may be intended, so it stays. */
export const lines: OptionType<readonly string[]> = { ...filledList, fromText: linesIn };

/** Tokens, one per line, without the whitespace around them, which a header cannot have. */
export const tokens: OptionType<readonly string[]> = {
  ...lines,
  fromText: (secrets) => linesIn(secrets).map((line) => line.trim()),
};

/** Returns every `verdict=action` that `--on` accepts. */
export const overrideWords = () =>
  settableVerdicts.flatMap((verdict) => actionsFor(verdict).map((action) => `${verdict}=${action}`));

export const overrides: OptionType<Overrides> = {
  kind: 'overrides',
  is: '<verdict>=<action>',
  write: 'write <verdict>=<action>, such as --on cancelled=fail or --on failed=warn,blocked=warn',
  schema: z.pipe(
    z.custom<Record<string, unknown>>(
      (json) => typeof json === 'object' && json !== null && !Array.isArray(json),
      'expected an object such as { "cancelled": "fail" }',
    ),
    z.transform((json, { issues }) => {
      const pairs = Object.entries(json).flatMap(([verdict, action]) => {
        const refuse = (message: string, hint?: string) => {
          issues.push({ code: 'custom', message, input: action, path: [verdict], params: { hint } });
          return [];
        };
        if (typeof action !== 'string' || !(actions as readonly string[]).includes(action))
          return refuse(`expected one of ${actions.join(', ')}${suggestion(action, actions)}`);
        try {
          return [checkOverride(verdict, action as Action)];
        } catch (error) {
          if (error instanceof UsageError) return refuse(error.message, error.hint);
          throw error;
        }
      });
      return Object.fromEntries(pairs) as Overrides;
    }),
  ),
  fromText(words) {
    const joined = words
      .split('=')
      .map((word) => word.trim())
      .join('=');
    const pairs = joined
      .split(/[,\s]+/)
      .filter((pair) => pair !== '')
      .map((pair) => pair.split('='));
    const isOnce = new Set(pairs.map(([verdict]) => verdict)).size === pairs.length;
    const isWhole = pairs.length > 0 && pairs.every((pair) => pair.length === 2);
    return isOnce && isWhole ? Object.fromEntries(pairs) : words;
  },
  jsonSchema: {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      settableVerdicts.map((verdict) => [verdict, { enum: actionsFor(verdict) }]),
    ),
  },
};
