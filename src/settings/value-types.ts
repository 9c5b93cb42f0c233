import { readDuration } from '../duration.ts';
import { ConfigError, UsageError } from '../errors.ts';
import { mostRetries } from '../gate/limits.ts';
import { actions, checkOverride, type Overrides } from '../gate/policy.ts';
import { commandNames, type HintNames } from '../hint-names.ts';
import { nearest } from '../suggest.ts';
import { parseApiUrl } from '../transport/address.ts';

/** An invalid value of a setting. The message never contains the value, which may be a misplaced secret. */
export class InvalidValue extends Error {
  /** The position within the value, as JSON keys. */
  readonly within: readonly (string | number)[];
  readonly hint: string | undefined;

  constructor(message: string, within: readonly (string | number)[] = [], hint?: string) {
    super(message);
    this.within = within;
    this.hint = hint;
  }
}

/** The type of a setting: its form in a file, on the command line and in the JSON schema. */
export interface ValueType<Value> {
  /** Reads the JSON that a user writes. @throws InvalidValue */
  read(json: unknown): Value;
  /** Turns a command-line argument into the JSON of a file; if absent, the two are the same. */
  json?(text: string): unknown;
  /** Turns a value into JSON that `read` accepts; if absent, the value is that JSON. */
  write?(value: Value): unknown;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** Suggests the nearest valid word. Never repeats the value itself. */
function suggestion(given: unknown, words: readonly string[]): string {
  const near = typeof given === 'string' ? nearest(given, words) : null;
  return near === null ? '' : `; did you mean ${JSON.stringify(near)}?`;
}

function invalid(expected: string): never {
  throw new InvalidValue(`expected ${expected}`);
}

/** Tells whether a value is a non-blank string on one line, fit for a URL, a header or a field of a request. */
function isText(json: unknown): json is string {
  return typeof json === 'string' && /\S/.test(json) && !/[\u0000-\u001f\u007f-\u009f]/.test(json);
}

function textOf(expected: string, pattern: RegExp): ValueType<string> {
  return {
    read: (json) => (isText(json) && pattern.test(json) ? json : invalid(expected)),
    schema: { type: 'string', pattern: pattern.source },
  };
}

export const text: ValueType<string> = {
  ...textOf('a non-empty string on one line', /\S/),
  schema: { type: 'string', pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f]+$' },
};

export const headerName = textOf('a header name, such as X-Signature', /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/);

export const pointer = textOf('a JSON pointer, such as /data/runId', /^\//);

/** @param name the setting, for hints */
export const addressOf = (server: HintNames['server'], name: string): ValueType<string> => ({
  read(json) {
    const expected = `the URL of the ${server}, such as https://${server}.example.com`;
    if (!isText(json)) return invalid(expected);
    try {
      // Whether http is allowed depends on the command line, and is checked before anything is sent.
      parseApiUrl(json, true, { ...commandNames, server, apiUrl: name });
    } catch (error) {
      if (error instanceof ConfigError) throw new InvalidValue(error.message, [], error.hint);
      throw error;
    }
    return json.trim();
  },
  schema: {
    type: 'string',
    format: 'uri',
    // Only a page may have a query.
    pattern: `^\\s*[Hh][Tt][Tt][Pp][Ss]?://[^\\s${server === 'page' ? '' : '?'}#@]+\\s*$`,
  },
});

export const flag: ValueType<boolean> = {
  read: (json) => (typeof json === 'boolean' ? json : invalid('true or false, without quotes')),
  json: (word) => ({ true: true, false: false })[word.trim()],
  schema: { type: 'boolean' },
};

export function oneOf<const Word extends string>(words: readonly Word[]): ValueType<Word> {
  return {
    read: (json) =>
      words.find((word) => word === json) ?? invalid(`one of ${words.join(', ')}${suggestion(json, words)}`),
    schema: { enum: words },
  };
}

const maxCount = 999_999_999;

function wholeNumber(minimum: number, maximum: number, range: string): ValueType<number> {
  return {
    read: (json) =>
      typeof json === 'number' && Number.isInteger(json) && json >= minimum && json <= maximum
        ? json
        : invalid(`a whole number, ${range}, without quotes`),
    json: (word) => (/^\d{1,9}$/.test(word.trim()) ? Number(word) : word),
    schema: { type: 'integer', minimum, maximum },
  };
}

export const count = wholeNumber(1, maxCount, '1 or more');
export const retryCount = wholeNumber(0, mostRetries, `0 to ${mostRetries}`);

/** Formats milliseconds for a file: `90s` rather than `1.5m`, as most people write it. */
export function durationText(ms: number): string {
  if (ms % 1000 !== 0) return `${ms}ms`;
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000}h`;
  return ms % 60_000 === 0 ? `${ms / 60_000}m` : `${ms / 1000}s`;
}

/** 31 years: longer than any wait, and small enough that arithmetic cannot overflow. */
const maxSeconds = 1e9;

export const duration: ValueType<number> = {
  read(json) {
    const ms =
      typeof json === 'number' ? json * 1000 : typeof json === 'string' ? readDuration(json) : Number.NaN;
    if (ms !== null && ms > 0 && ms <= maxSeconds * 1000) return ms;
    return invalid('a duration above 0, such as "250ms", "10s", "5m" or "1h", or a number of seconds');
  },
  write: durationText,
  schema: {
    anyOf: [
      { type: 'number', exclusiveMinimum: 0, maximum: maxSeconds },
      { type: 'string', pattern: '^\\s*(?=[^1-9]*[1-9])(\\d+(\\.\\d+)?|\\.\\d+)(ms|s|m|h)?\\s*$' },
    ],
  },
};

export const textList: ValueType<readonly string[]> = {
  read(json) {
    if (!Array.isArray(json) || json.length === 0) {
      const hint = isText(json) ? 'one name also needs a list: ["smoke"]' : undefined;
      throw new InvalidValue('expected a list of strings, such as ["smoke", "nightly"]', [], hint);
    }
    json.forEach((item, index) => {
      if (!isText(item)) throw new InvalidValue('expected a non-empty string on one line', [index]);
    });
    return json;
  },
  json: (words) =>
    words
      .split(/[,\n]/)
      .map((word) => word.trim())
      .filter((word) => word !== ''),
  schema: { type: 'array', minItems: 1, items: text.schema },
};

/** A list of names, which may be empty. */
export const nameList: ValueType<readonly string[]> = {
  read: (json) => (Array.isArray(json) && json.length === 0 ? [] : textList.read(json)),
  schema: { type: 'array', items: text.schema },
};

export const overrides: ValueType<Overrides> = {
  read(json) {
    if (typeof json !== 'object' || json === null || Array.isArray(json)) {
      return invalid('an object such as { "cancelled": "fail" }');
    }
    const pairs = Object.entries(json).map(([verdict, action]) => {
      if (typeof action !== 'string' || !(actions as readonly string[]).includes(action)) {
        throw new InvalidValue(`expected one of ${actions.join(', ')}${suggestion(action, actions)}`, [
          verdict,
        ]);
      }
      try {
        return checkOverride(verdict, action);
      } catch (error) {
        if (error instanceof UsageError) throw new InvalidValue(error.message, [verdict], error.hint);
        throw error;
      }
    });
    return Object.fromEntries(pairs);
  },
  /** Parses `cancelled=fail,timeout=warn`. */
  json(words) {
    const pairs = words.split(/[,\s]+/).filter((pair) => pair !== '');
    const all = pairs.map((pair) => pair.split('='));
    return all.every((pair) => pair.length === 2) && all.length > 0 ? Object.fromEntries(all) : words;
  },
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      failed: { $ref: '#/definitions/action' },
      blocked: { $ref: '#/definitions/action' },
      cancelled: { $ref: '#/definitions/action' },
      timeout: { enum: ['warn', 'fail'] },
      unobserved: { enum: ['warn', 'fail'] },
      mismatch: { enum: ['warn', 'fail'] },
    },
  },
};
