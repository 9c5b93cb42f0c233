import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkDocuments } from './documents.ts';

const report = { schemaVersion: 1, ok: true, exitCode: 0, checks: [] };
const error = {
  code: 'usage',
  message: 'm',
  status: null,
  method: null,
  path: null,
  details: null,
  hint: null,
};
const argv = ['doctor', '--json'];

/** Returns the problem of a document, or null. */
async function problemOf(out: unknown, err = '', line: readonly string[] = argv): Promise<string | null> {
  try {
    await checkDocuments(line, typeof out === 'string' ? out : JSON.stringify(out), err);
    return null;
  } catch (problem) {
    return String(problem);
  }
}

describe('the check of every document in the tests', () => {
  it('accepts a document that fits its schema', async () => expect(await problemOf(report)).toBeNull());

  it.each([
    ['a missing field', { ...report, ok: undefined }, /required property 'ok'/],
    ['a field that the schema does not describe', { ...report, more: 1 }, /NOT have additional properties/],
    ['another type', { ...report, exitCode: '7' }, /exitCode must be number/],
    ['text beside JSON', 'no problems', /not valid JSON/],
  ])('refuses %s', async (_what, out, problem) => expect(await problemOf(out)).toMatch(problem));

  it('chooses the schema by the option of a command', async () => {
    expect(await problemOf(report, '', ['run', 'trigger', '--wait', '--json'])).toContain('gate.json');
    expect(await problemOf(report, '', ['run', 'trigger', '--json'])).toContain('run-trigger.json');
  });

  it('checks errors on standard error', async () => {
    expect(await problemOf('', `${JSON.stringify({ error: { ...error, body: null } })}\n`)).toBeNull();
    expect(await problemOf('', `${JSON.stringify({ error })}\n`)).toMatch(/required property 'body'/);
  });

  it('is in the way of every test that runs a command in its process', () => {
    const folder = new URL('..', import.meta.url);
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /^(?!.*node_modules).*\.ts$/.test(name),
    );
    const direct = names.filter((name) =>
      /^import .*src\/cli\/main\.ts'/m.test(readFileSync(new URL(name, folder), 'utf8')),
    );
    expect(direct).toEqual(['cli/main.ts']);
  });
});
