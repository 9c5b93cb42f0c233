import { readDuration } from '../duration.ts';
import { ConfigError, UsageError } from '../errors.ts';
import { actions, checkOverride, type Overrides } from '../gate/policy.ts';
import { commandNames } from '../hint-names.ts';
import { nearest } from '../suggest.ts';
import { parseApiUrl } from '../transport/address.ts';

/** A value that a setting cannot have. The message never has the value in it: it may be a misplaced secret. */
export class UnfitValue extends Error {
  /** Where in the value, as JSON keys. */
  readonly within: readonly (string | number)[];
  /** What to do about it. */
  readonly hint: string | undefined;

  constructor(message: string, within: readonly (string | number)[] = [], hint?: string) {
    super(message);
    this.within = within;
    this.hint = hint;
  }
}

/** How the values of a setting are written: in a file, on the command line, and in the JSON schema. */
export interface Kind<Value> {
  /** From JSON as a user writes it. @throws UnfitValue */
  read(json: unknown): Value;
  /** From one word of the command line to the JSON that a file has; without it they are the same. */
  json?(text: string): unknown;
  /** To JSON that `read` takes; without it the value is such. */
  write?(value: Value): unknown;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** What was probably meant. Never the value as it was given. */
function nearWord(given: unknown, words: readonly string[]): string {
  const near = typeof given === 'string' ? nearest(given, words) : null;
  return near === null ? '' : `; did you mean ${JSON.stringify(near)}?`;
}

function unfit(expected: string): never {
  throw new UnfitValue(`expected ${expected}`);
}

/** Filled, and in one line: what stands in a URL, a header or a request's field. */
function isText(json: unknown): json is string {
  return typeof json === 'string' && /\S/.test(json) && !/[\u0000-\u001f\u007f-\u009f]/.test(json);
}

function textOf(expected: string, pattern: RegExp): Kind<string> {
  return {
    read: (json) => (isText(json) && pattern.test(json) ? json : unfit(expected)),
    schema: { type: 'string', pattern: pattern.source },
  };
}

export const text: Kind<string> = {
  ...textOf('a text with something in it', /\S/),
  schema: { type: 'string', pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f]+$' },
};

export const headerName = textOf("a header's name, such as X-Signature", /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/);

export const pointer = textOf('a JSON pointer, such as /data/runId', /^\//);

export const address: Kind<string> = {
  read(json) {
    const expected = 'the address of the service, such as https://service.example.com';
    if (!isText(json)) return unfit(expected);
    try {
      // Whether http will do depends on the command line, and is found out when something is sent.
      parseApiUrl(json, true, { ...commandNames, apiUrl: 'apiUrl' });
    } catch (error) {
      if (error instanceof ConfigError) throw new UnfitValue(error.message, [], error.hint);
      throw error;
    }
    return json.trim();
  },
  schema: { type: 'string', format: 'uri', pattern: '^\\s*[Hh][Tt][Tt][Pp][Ss]?://[^\\s?#@]+\\s*$' },
};

export const flag: Kind<boolean> = {
  read: (json) => (typeof json === 'boolean' ? json : unfit('true or false, without quotes')),
  json: (word) => ({ true: true, false: false })[word.trim()],
  schema: { type: 'boolean' },
};

export function wordOf<const Word extends string>(words: readonly Word[]): Kind<Word> {
  return {
    read: (json) =>
      words.find((word) => word === json) ?? unfit(`one of ${words.join(', ')}${nearWord(json, words)}`),
    schema: { enum: words },
  };
}

const mostCount = 999_999_999;

export const count: Kind<number> = {
  read: (json) =>
    typeof json === 'number' && Number.isInteger(json) && json >= 1 && json <= mostCount
      ? json
      : unfit('a whole number from 1 up, without quotes'),
  json: (word) => (/^\d{1,9}$/.test(word.trim()) ? Number(word) : word),
  schema: { type: 'integer', minimum: 1, maximum: mostCount },
};

/** Milliseconds as a file has them: `90s` rather than `1.5m`, since that is what most people write. */
export function durationText(ms: number): string {
  if (ms % 1000 !== 0) return `${ms}ms`;
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000}h`;
  return ms % 60_000 === 0 ? `${ms / 60_000}m` : `${ms / 1000}s`;
}

/** 31 years: nobody waits longer, and no arithmetic with it overflows. */
const mostSeconds = 1e9;

export const duration: Kind<number> = {
  read(json) {
    const ms =
      typeof json === 'number' ? json * 1000 : typeof json === 'string' ? readDuration(json) : Number.NaN;
    if (ms !== null && ms > 0 && ms <= mostSeconds * 1000) return ms;
    return unfit('a duration above 0, such as "250ms", "10s", "5m" or "1h", or a number of seconds');
  },
  write: durationText,
  schema: {
    anyOf: [
      { type: 'number', exclusiveMinimum: 0, maximum: mostSeconds },
      { type: 'string', pattern: '^\\s*(?=[^1-9]*[1-9])(\\d+(\\.\\d+)?|\\.\\d+)(ms|s|m|h)?\\s*$' },
    ],
  },
};

export const texts: Kind<readonly string[]> = {
  read(json) {
    if (!Array.isArray(json) || json.length === 0)
      return unfit('a list of texts, such as ["smoke", "nightly"]');
    json.forEach((item, index) => {
      if (!isText(item)) throw new UnfitValue('expected a text with something in it', [index]);
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

export const overrides: Kind<Overrides> = {
  read(json) {
    if (typeof json !== 'object' || json === null || Array.isArray(json)) {
      return unfit('an object such as { "cancelled": "fail" }');
    }
    const pairs = Object.entries(json).map(([verdict, action]) => {
      if (typeof action !== 'string' || !(actions as readonly string[]).includes(action)) {
        throw new UnfitValue(`expected one of ${actions.join(', ')}${nearWord(action, actions)}`, [verdict]);
      }
      try {
        return checkOverride(verdict, action);
      } catch (error) {
        if (error instanceof UsageError) throw new UnfitValue(error.message, [verdict], error.hint);
        throw error;
      }
    });
    return Object.fromEntries(pairs);
  },
  /** `cancelled=fail,timeout=warn` */
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
    },
  },
};
