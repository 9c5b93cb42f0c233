import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/errors.ts';
import { fileIds } from '../../src/options/table.ts';
import { readProjectFile, sectionFor } from '../../src/settings/project-file.ts';
import { bytesOf, sampleNames, samples, valuesOf } from './samples.ts';

const path = '/repo/.rungate.json';
const read = (json: unknown) => readProjectFile(path, bytesOf(json));
const valuesFor = (json: unknown, ref: string | null) => valuesOf(sectionFor(read(json), ref).sources);

function errorOf(json: unknown): ConfigError {
  try {
    read(json);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('a project file', () => {
  it.each(sampleNames)('accepts %s in every form that users write', (name) => {
    for (const [json, value] of samples[name].right) {
      expect(sectionFor(read({ [name]: json }), null).sources).toEqual([
        {
          origin: 'project file',
          values: { [name]: value },
          details: { [name]: path },
        },
      ]);
    }
  });
});

describe('a mistake in the project file', () => {
  it.each<[string, string, RegExp]>([
    ['a trailing comma', '{\n  "project": "shop",\n}', /^\/repo\/\.rungate\.json:3:1: not valid JSON/],
    ['an array instead of an object', '\n["project"]', /:2:1: expected an object of settings/],
    ['a wrong type', '{\n  "strict": "yes"\n}', /:2:13: strict: expected true or false/],
    ['a timeout that passes', '{"on": {"timeout": "pass"}}', /:1:20: on: timeout cannot pass/],
    ['a duplicate key', '{"strict": true,\n "strict": false}', /:2:2: "strict" is set twice/],
    [
      'a setting in both its forms',
      '{"run.idPointer": "/a",\n "run": {"idPointer": "/b"}}',
      /:2:10: run\.idPointer is set twice/,
    ],
    ['a mistake in a branch', '{"branches": {"main":\n {"strict": 1}}}', /:2:13: strict: expected/],
    [
      'a branch that is not an object',
      '{"branches": {"main": true}}',
      /:1:23: expected an object of settings/,
    ],
    ['an unknown setting', '{\n "projekt": "shop"}', /:2:2: unknown setting "projekt"/],
  ])('is reported with file, line and column: %s', (_what, text, message) =>
    expect(errorOf(text).message).toMatch(message),
  );

  it('is reported if the file is not UTF-8', () => {
    expect(() => readProjectFile(path, new Uint8Array([0x7b, 0xff, 0x7d]))).toThrow(/not UTF-8/);
  });

  it.each([
    ['api-url', 'apiUrl'],
    ['tag', 'tags'],
    ['porject', 'project'],
  ])('in the name %s suggests the nearest setting, %s', (given, near) => {
    expect(errorOf({ [given]: 'x' }).hint).toBe(`did you mean "${near}"?`);
  });
});

describe('a secret in a project file', () => {
  const secret = 'sk_live_4eC39HqLyjWDarjtT1';

  it.each([
    ['apiKey', { apiKey: secret }],
    ['token', { token: secret }],
    ['RUNGATE_TOKEN', { RUNGATE_TOKEN: secret }],
    ['webhookSecrets', { webhookSecrets: [secret] }],
    ['authorization', { authorization: `Bearer ${secret}` }],
    ['in a group', { webhook: { secret } }],
    ['the token of a hub', { hub: { token: secret } }],
    ['in the address of a hub', { hub: { url: `https://${secret}@hub.example` } }],
    ['in a branch', { branches: { main: { apiKey: secret } } }],
    ['in an address', { apiUrl: `https://ci:${secret}@ci.example` }],
    ['in the wrong place', { strict: secret, timeout: '1h' }],
    ['in text that is not JSON', `{"apiKey": "${secret}`],
    ['after text that is not JSON', `{"project": shop, "apiKey": "${secret}"}`],
  ])('is refused and not repeated: %s', (_what, json) => {
    const error = errorOf(json);
    expect(`${error.message} ${error.hint}`).not.toContain(secret);
  });

  it('is reported with the place where it belongs', () => {
    const error = errorOf(`{\n  "apiKey": "${secret}"}`);
    expect(error.message).toMatch(/^\/repo\/\.rungate\.json:2:3: "apiKey" looks like a secret/);
    expect(error.hint).toMatch(/RUNGATE_API_KEY.*rungate login/);
    expect(errorOf({ hub: { token: secret } }).message).toContain('looks like a secret');
  });
});

describe('branches', () => {
  const file = {
    project: 'shop',
    process: 'smoke',
    timeout: '30m',
    on: { blocked: 'warn', cancelled: 'warn' },
    branches: {
      main: { environment: 'production', strict: true, tags: ['all'], on: { cancelled: 'fail' } },
      'release/*': { environment: 'staging' },
      '*': { environment: 'preview', timeout: '5m' },
    },
  };

  it('override the settings for every ref', () => {
    expect(valuesFor(file, 'main')).toEqual({
      project: 'shop',
      tags: ['all'],
      timeout: 1_800_000,
      environment: 'production',
      strict: true,
      on: { blocked: 'warn', cancelled: 'fail' },
    });
    expect(valuesFor(file, 'release/1.2')).toMatchObject({ environment: 'staging', process: 'smoke' });
    expect(valuesFor(file, 'fix/login')).toMatchObject({ environment: 'preview', timeout: 300_000 });
  });
});

describe('the reader of project files', () => {
  const names = [
    ...fileIds,
    'branches',
    '$schema',
    'webhook',
    'hub',
    'run',
    'env',
    'apiKey',
    '__proto__',
    'toString',
  ];
  const anything = fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(
      { depthSize: 'small' },
      fc.constant(null),
      fc.boolean(),
      fc.double({ noNaN: true }),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('10s', 'main', 'https://ci.example', 'fail', 'pass', 'json'),
      fc.array(tie('json'), { maxLength: 3 }),
      fc
        .array(fc.tuple(fc.oneof(fc.constantFrom(...names), fc.string()), tie('json')), { maxLength: 4 })
        .map((pairs) => Object.fromEntries(pairs)),
    ),
  })).json;

  it('reads arbitrary JSON or refuses it with a ConfigError', () => {
    fc.assert(
      fc.property(anything, fc.oneof(fc.constant(null), fc.string()), (json, ref) => {
        try {
          sectionFor(read(JSON.stringify(json)), ref);
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
        }
      }),
      { numRuns: 600 },
    );
  });
});
