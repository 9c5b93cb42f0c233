import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/errors.ts';
import { readProjectFile, sectionFor } from '../../src/settings/project-file.ts';
import { bytesOf, valuesOf } from './samples.ts';

const path = '/repo/.rungate.json';
const read = (json: unknown) => readProjectFile(path, bytesOf(json));
const gatesFor = (json: unknown, ref: string | null = null) =>
  [...sectionFor(read(json), ref).gates.values()].map(({ name, sources }) => ({
    name,
    values: valuesOf(sources),
    details: sources[0]?.details,
  }));

describe('the gates of a project file', () => {
  it('have settings, needs and build information', () => {
    const web = { tags: ['web'], needs: ['api'], timeout: '5m', ref: 'main' };
    expect(gatesFor({ gates: { api: { process: 'smoke', advisory: false }, web } })).toMatchObject([
      { name: 'api', values: { process: 'smoke', advisory: false } },
      { name: 'web', values: { tags: ['web'], needs: ['api'], timeout: 300_000, ref: 'main' } },
    ]);
  });

  it('take fields from the branch, one by one, and further gates', () => {
    const main = {
      gates: { api: { tags: ['all'], event: 'push', on: { failed: 'warn' } }, perf: { process: 'perf' } },
    };
    const api = { process: 'smoke', ref: 'main', strict: true, on: { blocked: 'warn' }, needs: [] };
    const file = { gates: { api }, branches: { main } };
    expect(gatesFor(file, 'main')).toMatchObject([
      {
        name: 'api',
        values: {
          needs: [],
          ref: 'main',
          event: 'push',
          tags: ['all'],
          strict: true,
          on: { failed: 'warn', blocked: 'warn' },
        },
      },
      { name: 'perf' },
    ]);
    expect(gatesFor(file, 'other')).toMatchObject([{ name: 'api', values: { process: 'smoke' } }]);
  });
});

describe('a mistake in the gates', () => {
  it.each<[string, string, RegExp, RegExp?]>([
    ['a list', '{"gates": []}', /:1:11: gates: expected an object such as/],
    ['a name with a space', '{"gates": {"a b": {}}}', /:1:12: "a b" is not the name of a gate/],
    ['a duplicate gate', '{"gates": {"a": {}, "a": {}}}', /:1:21: "a" is set twice/],
    ['an unknown field', '{"gates": {"a": {"proces": "x"}}}', /:1:18: unknown setting "proces"/, /"process"/],
    ['a setting of the command', '{"gates": {"a": {"apiUrl": "x"}}}', /apiUrl is in the wrong place/],
    ['a secret', '{"gates": {"a": {"apiKey": "x"}}}', /looks like a secret/],
    ['a wrong type', '{"gates": {"a": {"advisory": "yes"}}}', /:1:30: advisory: expected true or false/],
    [
      'an unknown need',
      '{"gates": {"api": {},\n "web": {"needs": ["ap"]}}}',
      /:2:20: gate web needs "ap", which is not a gate/,
      /did you mean "api"/,
    ],
    [
      'an advisory need on a branch only',
      '{"gates": {"a": {}, "b": {"needs": ["a"]}},\n "branches": {"main": {"gates": {"a": {"advisory": true}}}}}',
      /:1:37: gate b needs a, which is advisory/,
    ],
    [
      'a cycle on a branch only',
      '{"gates": {"a": {}, "b": {"needs": ["a"]}},\n "branches": {"main": {"gates": {"a": {"needs": ["b"]}}}}}',
      /:2:50: the needs form a cycle: a → b → a/,
    ],
  ])('is reported with file, line and column: %s', (_what, text, message, hint = /./) => {
    try {
      read(text);
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      expect((error as ConfigError).message).toMatch(message);
      expect((error as ConfigError).message).toMatch(/^\/repo\/\.rungate\.json:\d+:\d+: /);
      if (hint.source !== '.') expect((error as ConfigError).hint).toMatch(hint);
      return;
    }
    throw new Error('nothing was thrown');
  });
});
