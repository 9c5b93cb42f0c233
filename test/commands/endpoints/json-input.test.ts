import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Stage, stage } from '../../cli/harness.ts';

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

describe('--input', () => {
  it.each(['name: a\nkey: s3cret\n', '{"name": "s3cret"', '{"a": 1} {"b": 2}', ' \n'])(
    'refuses a file that is not JSON, without repeating it: %j',
    async (body) => {
      const { code, err } = await on.with({ files: { body } })('env', 'create', '--input', 'body');
      expect({ code, sent: on.mock.requests }).toEqual({ code: 64, sent: [] });
      expect(err).toContain('error: --input is not JSON in UTF-8\n  → a JSON body looks like');
      expect(err).not.toContain('s3cret');
    },
  );

  it('refuses JSON instead of a path, without repeating it', async () => {
    const { code, err } = await on.rungate('env', 'create', '--input', '{"key": "s3cret"}');
    expect(code).toBe(64);
    expect(err).toContain('error: --input cannot be read: no such file\n  → give a JSON file');
    expect(err).not.toContain('s3cret');
  });
});
