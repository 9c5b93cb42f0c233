import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/errors.ts';
import type { Policy, Verdict } from '../../src/gate/policy.ts';
import { environmentSettings, readSecret, readSecrets } from '../../src/settings/environment.ts';
import { mergeSettings, policySettings } from '../../src/settings/merge.ts';
import {
  origins,
  type SettingOrigin,
  type SettingSource,
  type SettingValues,
} from '../../src/settings/names.ts';

const source = (
  origin: SettingOrigin,
  values: Partial<SettingValues>,
  details?: SettingSource['details'],
): SettingSource => (details === undefined ? { origin, values } : { origin, values, details });

const noFile = (path: string): Uint8Array => {
  throw new Error(`no such file: ${path}`);
};
const files = (contents: Record<string, string>) => (path: string) => {
  const text = contents[path];
  return text === undefined ? noFile(path) : new TextEncoder().encode(text);
};

describe('mergeSettings', () => {
  test('takes each value from its strongest source, in whatever order the sources come', () => {
    const values = fc.record(
      { project: fc.string(), interval: fc.nat(), strict: fc.boolean(), process: fc.string() },
      { requiredKeys: [] },
    );
    const each = fc.tuple(values, values, values, values, values);
    fc.assert(
      fc.property(
        each.chain((all) =>
          fc.tuple(fc.constant(all), fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 })),
        ),
        ([all, order]) => {
          const sources = origins.map((origin, index) => source(origin, all[index] ?? {}));
          const shuffled = order.flatMap((index) => sources[index] ?? []);
          const merged = mergeSettings(shuffled);
          expect(merged).toEqual(mergeSettings(sources));
          for (const name of ['project', 'interval', 'strict', 'process'] as const) {
            const strongest = sources.find((one) => one.values[name] !== undefined);
            expect(merged[name]?.value).toBe(strongest?.values[name]);
            expect(merged[name]?.origin).toBe(strongest?.origin);
          }
        },
      ),
    );
  });
});

describe('process and tags', () => {
  const process = 'checkout';
  const tags = ['smoke'];

  test('both from one source are refused even if a stronger source replaces them', () => {
    const sources = [source('flag', { process }), source('profile', { process, tags })];
    expect(() => mergeSettings(sources)).toThrow(ConfigError);
  });
});

describe('a tenant secret', () => {
  test('does not replace webhook secrets from a stronger source', () => {
    const webhookSecrets = ['webhook'];
    const tenantSecret = 'tenant';
    const weak = source('profile', { tenantSecret });
    expect(mergeSettings([weak, source('environment', { webhookSecrets })]).tenantSecret).toBeUndefined();
    expect(mergeSettings([source('profile', { webhookSecrets, tenantSecret })]).tenantSecret?.value).toBe(
      tenantSecret,
    );
    const strong = mergeSettings([
      source('environment', { tenantSecret }),
      source('profile', { webhookSecrets }),
    ]);
    expect(strong.tenantSecret?.value).toBe(tenantSecret);
  });
});

describe('the policy', () => {
  const policy = (...all: Partial<SettingValues>[]) =>
    policySettings(mergeSettings(all.map((values, index) => source(origins[index] ?? 'default', values))));

  test.each<[string, Partial<SettingValues>[], Partial<Policy>]>([
    ['a strict above', [{ strict: true }, { on: { cancelled: 'pass' } }], { cancelled: 'fail' }],
    ['a false strict above fail', [{ strict: false }, { on: { cancelled: 'fail' } }], { cancelled: 'warn' }],
    ['on beside strict', [{ strict: true, on: { cancelled: 'warn' } }], { cancelled: 'warn' }],
    [
      'on above strict above on',
      [{ on: { cancelled: 'warn' } }, { strict: true }, { on: { cancelled: 'pass' } }],
      { cancelled: 'warn' },
    ],
  ])('comes from the strongest source that covers the verdict: %s', (_what, sources, expected) => {
    const actual = policy(...sources);
    for (const [verdict, action] of Object.entries(expected))
      expect(actual[verdict as Verdict].value).toBe(action);
  });
});

describe('a secret', () => {
  const name = 'RUNGATE_API_KEY';

  test('from a file is returned unchanged, whatever characters it has', () => {
    const text = fc.string({ unit: 'grapheme' }).filter((one) => one !== '' && !/[\r\n]$/.test(one));
    fc.assert(
      fc.property(text, fc.constantFrom('', '\n', '\r\n'), (secret, newline) => {
        const read = readSecret({ [`${name}_FILE`]: 'f' }, name, files({ f: `${secret}${newline}` }));
        expect(read).toBe(secret);
      }),
    );
  });

  test.each(['', '\n', '\r\n'])('is a ConfigError if its file contains %j', (text) => {
    expect(() => readSecret({ [`${name}_FILE`]: 'f' }, name, files({ f: text }))).toThrow(ConfigError);
  });

  test.each([
    ['UTF-16', Buffer.from('\ufeffsecret', 'utf16le')],
    ['latin1', Buffer.from('sécret', 'latin1')],
  ])('is a ConfigError if its file is in %s, which would be another secret', (_encoding, bytes) => {
    expect(() => readSecret({ [`${name}_FILE`]: 'f' }, name, () => bytes)).toThrow(/is not UTF-8 text/);
  });

  test('is a ConfigError with the variable if its file cannot be read', () => {
    expect(() => readSecret({ [`${name}_FILE`]: '/gone' }, name, noFile)).toThrow(ConfigError);
    expect(() => readSecret({ [`${name}_FILE`]: '/gone' }, name, noFile)).toThrow(/RUNGATE_API_KEY_FILE/);
  });

  test('is a ConfigError that does not show it if both the variable and the file are set', () => {
    const act = () => readSecret({ [name]: 'k3y', [`${name}_FILE`]: 'f' }, name, files({ f: 'k3y' }));
    expect(act).toThrow(ConfigError);
    expect(act).not.toThrow(/k3y/);
  });
});

describe('the environment', () => {
  test('redacts a secret also without the line break or the spaces that it was pasted with', () =>
    expect(readSecrets({ RUNGATE_API_KEY: ' pasted-key\n' }, noFile)).toContain('pasted-key'));

  test.each(['', ' ', '\t'])('treats variables that are %j as unset', (empty) => {
    const names = ['API_URL', 'PROJECT', 'STRICT', 'API_KEY', 'API_KEY_FILE', 'HUB_URL', 'HUB_TOKEN_FILE'];
    const env = Object.fromEntries(names.map((name) => [`RUNGATE_${name}`, empty]));
    expect(environmentSettings(env, noFile).values).toEqual({});
  });

  test('reads RUNGATE_STRICT, and refuses a typo, which must not make the gate laxer', () => {
    const strictIn = (text: string) => environmentSettings({ RUNGATE_STRICT: text }, noFile).values.strict;
    expect(['1', 'true', 'TRUE', 'yes', 'on'].map(strictIn)).toEqual(Array(5).fill(true));
    expect(['0', 'false', 'no', 'off'].map(strictIn)).toEqual(Array(4).fill(false));
    expect(() => environmentSettings({ RUNGATE_STRICT: 'ture' }, noFile)).toThrow(ConfigError);
  });

  test('yields every secret in it for redaction, even those that are not valid settings', () => {
    const env = { RUNGATE_API_KEY: 'key', RUNGATE_API_KEY_FILE: '/gone', RUNGATE_TOKEN_FILE: 't' };
    expect(readSecrets(env, files({ t: 'jwt\n' }))).toEqual(expect.arrayContaining(['key', 'jwt']));
    expect(readSecrets({}, noFile)).toEqual([]);
  });
});
