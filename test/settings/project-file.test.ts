import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/errors.ts';
import { projectSource, readProjectFile } from '../../src/settings/project-file.ts';
import { plainNames } from '../../src/settings/table.ts';
import { bytesOf, sampleNames, samples } from './samples.ts';

const path = '/repo/.rungate.json';
const read = (json: unknown) => readProjectFile(path, bytesOf(json));
const valuesFor = (json: unknown, ref: string | null) => projectSource(read(json), ref).values;

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
  it.each(sampleNames)('gives %s as users write it', (name) => {
    for (const [json, value] of samples[name].right) {
      expect(projectSource(read({ [name]: json }), null)).toEqual({
        origin: 'project file',
        values: { [name]: value },
        details: { [name]: path },
      });
    }
  });

  it('takes the settings with a dot as objects too', () => {
    const webhook = { timestampHeader: 'X-T', signatureHeader: 'X-S' };
    expect(valuesFor({ webhook, run: { idPointer: '/x' } }, null)).toEqual({
      'webhook.timestampHeader': 'X-T',
      'webhook.signatureHeader': 'X-S',
      'run.idPointer': '/x',
    });
  });

  it('has its caFile where it is itself', () => {
    expect(valuesFor({ caFile: 'certs/own.pem' }, null)).toEqual({ caFile: '/repo/certs/own.pem' });
    expect(valuesFor({ branches: { '*': { caFile: '../own.pem' } } }, 'x')).toEqual({ caFile: '/own.pem' });
  });
});

describe('a mistake is a configuration error with file, line and column:', () => {
  it.each<[string, string, RegExp]>([
    ['not JSON', '{\n  "project": "shop",\n}', /^\/repo\/\.rungate\.json:3:1: it is not JSON/],
    ['a comment', '// mine\n{}', /:1:1: it is not JSON/],
    ['the end missing', '{"project": "shop"', /:1:\d+: it is not JSON/],
    ['more than one value', '{} {}', /:1:4: it is not JSON/],
    ['nothing', '', /:1:1: it is empty/],
    ['white space', ' \n', /:1:1: it is empty/],
    ['no object', '\n["project"]', /:2:1: expected an object of settings/],
    ['a wrong type', '{\n  "strict": "yes"\n}', /:2:13: strict: expected true or false/],
    ['a wrong item', '{ "tags": ["a",\n "" ] }', /:2:2: tags: expected a text/],
    ['a duration that is none', '{"timeout": "soon"}', /:1:13: timeout: expected a duration above 0/],
    ['a verdict that is none', '{"on": {\n"green": "pass"}}', /:2:10: on: unknown verdict "green"/],
    ['unknown as green', '{"on": {"timeout": "pass"}}', /:1:20: on: timeout cannot pass/],
    ['passed redefined', '{"on": {"passed": "warn"}}', /:1:19: on: the action for passed cannot be set/],
    ['a key twice', '{"strict": true,\n "strict": false}', /:2:2: "strict" is there twice/],
    [
      'a setting in both its spellings',
      '{"run.idPointer": "/a",\n "run": {"idPointer": "/b"}}',
      /:2:10: run\.idPointer is there twice/,
    ],
    ['two selectors', '{"tags": ["a"],\n "process": "b"}', /:1:2: a process and tags exclude each other/],
    ['a mistake in a branch', '{"branches": {"main":\n {"strict": 1}}}', /:2:13: strict: expected/],
    ['branches that are no object', '{"branches": ["main"]}', /:1:14: branches: expected an object/],
    ['a branch that is no object', '{"branches": {"main": true}}', /:1:23: expected an object of settings/],
    ['a branch without a name', '{"branches": {"": {}}}', /:1:15: expected a branch/],
    ['an unknown setting', '{\n "projekt": "shop"}', /:2:2: there is no setting "projekt"/],
    ['not UTF-8', '\u0000', /it is not JSON/],
  ])('%s', (_what, text, message) => expect(errorOf(text).message).toMatch(message));

  it('bytes that are no text', () => {
    expect(() => readProjectFile(path, new Uint8Array([0x7b, 0xff, 0x7d]))).toThrow(/not UTF-8/);
  });

  it('a mark that says UTF-8 is none', () => {
    expect(readProjectFile(path, new TextEncoder().encode('\ufeff{"project":"shop"}')).values).toEqual({
      project: 'shop',
    });
  });

  it.each([
    ['intervall', 'interval'],
    ['Project', 'project'],
    ['api-url', 'apiUrl'],
    ['API_URL', 'apiUrl'],
    ['max_attempts', 'maxAttempts'],
    ['tag', 'tags'],
    ['proces', 'process'],
    ['porject', 'project'],
    ['enviroment', 'environment'],
    ['timestampHeader', 'webhook.timestampHeader'],
    ['webhook.signatureHeadr', 'webhook.signatureHeader'],
    ['branch', 'branches'],
    ['idPointer', 'run.idPointer'],
    ['fleetsize', 'fleetSize'],
  ])('for %s the nearest setting is named: %s', (given, near) => {
    expect(errorOf({ [given]: 'x' }).hint).toBe(`did you mean "${near}"?`);
  });

  it('far from every name all of them are listed', () => {
    const { hint } = errorOf({ colour: 'red' });
    for (const name of plainNames) expect(hint).toContain(name);
  });

  it('wait is explained', () => expect(errorOf({ wait: true }).hint).toMatch(/run trigger --wait/));

  it('however deeply it is nested', () => {
    expect(errorOf('['.repeat(200_000)).message).toMatch(/nested too deeply/);
  });

  it('however large it is', () => {
    expect(errorOf(`{"project": "${'x'.repeat(2_000_000)}"}`).message).toMatch(/larger than any settings/);
  });
});

describe('a secret in a project file', () => {
  const secret = 'sk_live_4eC39HqLyjWDarjtT1';

  it.each([
    ['apiKey', { apiKey: secret }],
    ['api_key', { api_key: secret }],
    ['token', { token: secret }],
    ['RUNGATE_TOKEN', { RUNGATE_TOKEN: secret }],
    ['secrets', { secrets: [secret] }],
    ['webhookSecrets', { webhookSecrets: [secret] }],
    ['tenantSecret', { tenantSecret: { value: secret } }],
    ['password', { password: secret }],
    ['authorization', { authorization: `Bearer ${secret}` }],
    ['in a group', { webhook: { secret } }],
    ['in a branch', { branches: { main: { apiKey: secret } } }],
    ['in an address', { apiUrl: `https://ci:${secret}@ci.example` }],
    ['in the wrong place', { strict: secret, timeout: '1h' }],
    ['in a wrong duration', { timeout: secret }],
    ['in text that is not JSON', `{"apiKey": "${secret}`],
    ['behind text that is not JSON', `{"project": shop, "apiKey": "${secret}"}`],
  ])('%s is refused and not repeated', (_what, json) => {
    const error = errorOf(json);
    expect(`${error.message} ${error.hint}`).not.toContain(secret);
  });

  it('comes with the place where it belongs', () => {
    const error = errorOf(`{\n  "apiKey": "${secret}"}`);
    expect(error.message).toMatch(/^\/repo\/\.rungate\.json:2:3: "apiKey" looks like a secret/);
    expect(error.hint).toMatch(/RUNGATE_API_KEY.*rungate login/);
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

  it('the one that is meant comes over what holds for all', () => {
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

  it('say which of them a value is from', () => {
    expect(projectSource(read(file), 'refs/heads/main').details).toMatchObject({
      project: path,
      environment: `${path}, branches main`,
    });
  });

  it('without any for the ref, what holds for all holds', () => {
    expect(valuesFor({ strict: true, branches: { main: { strict: false } } }, 'x')).toEqual({ strict: true });
  });
});

describe('any JSON at all', () => {
  const names = [
    ...plainNames,
    'branches',
    '$schema',
    'webhook',
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

  it('is settings or a configuration error', () => {
    fc.assert(
      fc.property(anything, fc.oneof(fc.constant(null), fc.string()), (json, ref) => {
        try {
          projectSource(read(JSON.stringify(json)), ref);
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('and so are any bytes', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), fc.string().map(bytesOf)), (bytes) => {
        try {
          readProjectFile(path, bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
