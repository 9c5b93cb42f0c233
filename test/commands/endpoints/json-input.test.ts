import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Stage, stage } from '../../cli/harness.ts';

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

const utf16 = (text: string) => new Uint8Array([0xff, 0xfe, ...Buffer.from(text, 'utf16le')]);

const refusal = async (path: string, content: string | Uint8Array) => {
  const settings = path === '-' ? { stdin: content } : { files: { [path]: content } };
  const { code, err } = await on.with(settings)('env', 'create', '--input', path);
  expect(code).toBe(64);
  expect(on.mock.requests).toEqual([]);
  return err;
};

describe('--input', () => {
  it.each<[string, string | Uint8Array, string, RegExp]>([
    ['a UTF-16 file', utf16('{"name":"a"}'), 'is UTF-16 text', /UTF-8/],
    ['an empty file', ' \n', 'is empty', /looks like/],
    ['a YAML file', 'name: a\nkey: s3cret\n', 'is not JSON, at line 1, column 1', /looks like/],
    [
      'a comma after the last member',
      '{\n  "name": "s3cret",\n}',
      'is not JSON, at line 3, column 1',
      /that place/,
    ],
    ['a truncated body', '{"name": "s3cret"', 'is not JSON, at line 1, column 18', /that place/],
    ['two bodies', '{"a": 1} {"b": 2}', 'is not JSON, at line 1, column 10', /that place/],
  ])('explains %s and the fix', async (_name, content, problem, hint) => {
    const err = await refusal('body', content);
    expect(err).toContain(`error: --input: body ${problem}\n`);
    expect(err).toMatch(hint);
    expect(err).not.toContain('s3cret');
  });

  it('explains empty standard input', async () => {
    expect(await refusal('-', '')).toContain('error: --input: standard input is empty\n');
  });

  it('refuses JSON instead of a path, without repeating it', async () => {
    const { code, err } = await on.rungate('env', 'create', '--input', '{"key": "s3cret"}');
    expect(code).toBe(64);
    expect(err).toMatch(/^error: --input: the value is JSON, not a path\n {2}→ .*--input -/);
    expect(err).not.toContain('s3cret');
  });

  it('explains a path with the @ of curl', async () => {
    const { err } = await on.rungate('env', 'create', '--input', '@body.json');
    expect(err).toContain('remove the @');
  });

  it('refuses a directory', async () => {
    const { code, err } = await on.with({ files: { 'bodies/a.json': '{}' } })(
      'env',
      'create',
      '--input',
      'bodies',
    );
    expect(code).toBe(64);
    expect(err).toContain('error: --input: bodies cannot be read: it is a folder\n  → give a JSON file');
  });
});
