import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/errors.ts';
import {
  changeProfile,
  type Profile,
  profileSecrets,
  profileSource,
  readProfiles,
  withSecret,
  withSetting,
  writeProfiles,
} from '../../src/settings/profiles.ts';
import { sampleNames, samples } from './samples.ts';

const path = '/config/profiles.json';
const empty: Profile = { settings: {}, secrets: {} };
const key = { value: 'k3y-abcd', origin: 'https://ci.example' };

const settings = fc
  .uniqueArray(fc.constantFrom(...sampleNames.filter((name) => name !== 'tags')))
  .map((names) => Object.fromEntries(names.map((name) => [name, samples[name].right[0]?.[1]])));
const secret = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/\p{Surrogate}/u.test(text));
const profile = fc.record({
  settings,
  secrets: fc.record(
    {
      apiKey: fc.record({ value: secret, origin: secret }),
      token: fc.record({ value: secret, origin: secret }),
      webhookSecrets: fc.array(secret),
      tenantSecret: secret,
    },
    { requiredKeys: [] },
  ),
});

describe('the profiles file', () => {
  test('reads back exactly what was written', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), profile), (profiles) => {
        expect(readProfiles(path, writeProfiles(profiles as Record<string, Profile>))).toEqual(
          JSON.parse(JSON.stringify(profiles)),
        );
      }),
    );
  });

  test.each([
    ['', 'not valid JSON'],
    ['{"version":1,"profiles":{}}x', 'not valid JSON'],
    ['{}', 'not a profiles file'],
    ['{"version":1,"profiles":{"a":1}}', 'not a profile'],
    ['{"version":1,"profiles":{"a":{"secrets":{"apiKey":"x"}}}}', 'not a profile'],
  ])('is refused if its content is %j', (text, why) => {
    expect(() => readProfiles(path, text)).toThrow(ConfigError);
    expect(() => readProfiles(path, text)).toThrow(why);
  });

  test('is refused if a newer version wrote it', () => {
    expect(() => readProfiles(path, '{"version":2,"profiles":{}}')).toThrow(/newer version of rungate/);
  });

  test('is refused if a setting is invalid; the error gives its position', () => {
    const text = '{"version":1,"profiles":{"a":{\n"settings":{"strict":1}}}}';
    expect(() => readProfiles(path, text)).toThrow(
      '/config/profiles.json:2:22: strict: expected true or false',
    );
  });
});

describe('a profile', () => {
  test('yields its settings and secrets with the path of the file', () => {
    const kept = withSecret(withSetting(empty, { project: 'shop' }), 'apiKey', key);
    expect(profileSource(kept, path)).toEqual({
      origin: 'profile',
      values: { project: 'shop', apiKey: 'k3y-abcd' },
      details: { project: path, apiKey: path },
    });
  });

  test('is created by its first change, which leaves the other profiles alone', () => {
    const profiles = changeProfile({ a: empty }, 'constructor', (one) => withSecret(one, 'token', key));
    expect(Object.keys(profiles)).toEqual(['a', 'constructor']);
    expect(profileSecrets(profiles)).toEqual(['k3y-abcd']);
  });
});
