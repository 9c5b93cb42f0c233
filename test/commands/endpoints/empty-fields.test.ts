import { afterEach, beforeEach, expect, it } from 'vitest';
import { fieldFlag, kebab } from '../../../src/commands/endpoints/body-input.ts';
import { type Endpoint, pathParams } from '../../../src/contract/endpoint.ts';
import { api } from '../../../src/contract/index.ts';
import { schemaFields } from '../../../src/contract/shape.ts';
import { asked, type Stage, stage } from '../../cli/harness.ts';

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

it.each(['', ' '])('an empty option value is a usage error: %j', async (value) => {
  const { code, out, err } = await on.rungate('env', 'update', 'staging', '--version', value);
  expect({ code, out }).toEqual({ code: 64, out: '' });
  expect(err).toContain('--version is empty');
  expect(err).toContain('--json-field version=null');
  expect(asked(on.mock)).toEqual([]);
});

const derived = Object.entries<Endpoint>(api).filter(([name]) => !/^(run|keys)\./.test(name));
const options = derived.flatMap(([name, { path, query, body }]) =>
  [query, body].flatMap((schema) =>
    (schema === undefined ? [] : schemaFields(schema))
      .filter(({ type, path }) => type !== 'boolean' && !(name === 'observations.search' && path[0] === 'q'))
      .map((field) => [...name.split('.').map(kebab), ...pathParams(path).map(() => 'x'), fieldFlag(field)]),
  ),
);

it('every option of a body or a query refuses an empty value', async () => {
  expect(options.length).toBeGreaterThan(20);
  for (const argv of options) {
    const { code, err } = await on.rungate(...argv, '');
    expect({ code, err }, argv.join(' ')).toEqual({
      code: 64,
      err: expect.stringContaining(`${argv.at(-1)} is empty`),
    });
  }
  expect(asked(on.mock)).toEqual([]);
});

it.each([
  [['--field', 'version='], ''],
  [['--json-field', 'version=null'], null],
])('%j still clears a field', async (flags, version) => {
  const { code, err } = await on.rungate('env', 'update', 'staging', ...flags);
  expect(code, err).toBe(0);
  expect(JSON.parse(on.mock.requests.at(-1)?.body ?? '')).toEqual({ version });
});
