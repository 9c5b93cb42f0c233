import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/errors.ts';
import { fileIds } from '../../src/options/table.ts';
import { readProjectFile } from '../../src/settings/project-file.ts';
import { createSettingsSchema } from '../generated/settings-schema.ts';
import { bytesOf, sampleNames, samples } from './samples.ts';

const ajv = new Ajv({ strict: true, strictRequired: false, formats: { uri: true }, allowUnionTypes: true });
const valid = ajv.compile(createSettingsSchema());

function isRead(file: unknown): boolean {
  try {
    readProjectFile('/repo/.rungate.json', bytesOf(file));
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return false;
  }
}

/** Turns `{ 'a.b': 1 }` into `{ a: { b: 1 } }`. */
function nested(name: string, value: unknown): unknown {
  const [group = '', part] = name.split('.');
  return part === undefined ? { [group]: value } : { [group]: { [part]: value } };
}

describe('the schema and the reader', () => {
  it('have the same settings', () => expect(sampleNames.toSorted()).toEqual(fileIds.toSorted()));

  it.each(sampleNames)('accept the same values for %s', (name) => {
    for (const [value] of samples[name].right) {
      for (const file of [
        { [name]: value },
        nested(name, value),
        { branches: { main: nested(name, value) } },
      ]) {
        expect(isRead(file), `reader: ${JSON.stringify(file)}`).toBe(true);
        expect(valid(file), `schema: ${JSON.stringify(file)}`).toBe(true);
      }
    }
    for (const value of samples[name].wrong) {
      for (const file of [{ [name]: value }, { branches: { '*': { [name]: value } } }]) {
        expect(isRead(file), `reader: ${JSON.stringify(file)}`).toBe(false);
        expect(valid(file), `schema: ${JSON.stringify(file)}`).toBe(false);
      }
    }
  });

  it.each([
    [{}, true],
    [{ $schema: 1 }, false],
    [{ branches: { main: {} } }, true],
    [{ branches: { ' ': {} } }, false],
    [{ branches: { main: { branches: {} } } }, false],
    [{ branches: { main: { $schema: 'x' } } }, false],
    [{ process: 'a', tags: ['b'] }, false],
    [{ branches: { main: { process: 'a', tags: ['b'] } } }, false],
    [{ process: 'a', branches: { main: { tags: ['b'] } } }, true],
    [{ gates: { api: {}, web: { needs: ['api'], advisory: true, timeout: '5m', ref: 'x' } } }, true],
    [{ gates: { api: { needs: [] } }, branches: { main: { gates: { web: { process: 'a' } } } } }, true],
    [{ gates: { api: [] } }, false],
    [{ gates: { api: { process: 'a', tags: ['b'] } } }, false],
    [{ gates: { api: { needs: 'web' } } }, false],
    [{ gates: { api: { needs: [''] } } }, false],
    [{ gates: { api: { advisory: 1 } } }, false],
    [{ gates: { api: { apiUrl: 'https://x.example' } } }, false],
    [{ gates: { api: { gates: {} } } }, false],
    [{ webhook: { secret: 'x' } }, false],
    [{ apiKey: 'x' }, false],
    [[], false],
  ])('agree whether %j is valid: %j', (file, right) => {
    expect(isRead(JSON.stringify(file))).toBe(right);
    expect(valid(file)).toBe(right);
  });

  it('agree on any mixture of settings', () => {
    const setting = fc.constantFrom(...sampleNames).chain((name) => {
      const values = [...samples[name].right.map(([value]) => value), ...samples[name].wrong];
      return fc.tuple(fc.constant(name), fc.constantFrom(...values));
    });
    const settings = fc.array(setting, { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs));
    const file = fc.record({
      own: settings,
      branches: fc.dictionary(fc.constantFrom('main', 'r/*'), settings),
    });
    fc.assert(
      fc.property(file, ({ own, branches }) => {
        const json = { ...own, branches };
        expect(valid(json)).toBe(isRead(json));
      }),
      { numRuns: 200 },
    );
  });
});

it('docs/reference/settings.md shows a valid project file', () => {
  const text = readFileSync(new URL('../../docs/reference/settings.md', import.meta.url), 'utf8');
  const shown = /(?<=```json\n)\{[\s\S]*?(?=```)/.exec(text)?.[0] ?? '';
  expect(valid(JSON.parse(shown))).toBe(true);
  expect(isRead(shown)).toBe(true);
});

it.each([
  ...['a\nb', 'a\u001b[31m', 'a\u202eb', ']', 'a|b', '<script>', '::error::x', '##vso[task.complete]'],
  ...['--fail-fast', '..', '__proto__', 'a'.repeat(65)],
])('refuse %j as the name of a gate, which could break out of a report or a log', (name) => {
  const file = { gates: { [name]: { process: 'a' } } };
  expect([isRead(file), valid(file)]).toEqual([false, false]);
});
