import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { root, start } from './built.ts';

const library = pathToFileURL(`${root}dist/index.js`).href;
/** Runs a program that uses the package and catches no errors. */
const program = (code: string) =>
  start(process.execPath, ['--input-type=module', '-e', `import * as rungate from '${library}';${code}`])
    .ended;

it('an uncaught error prints its name in less than a screen', async () => {
  const client = "rungate.createClient({ apiUrl: 'http://127.0.0.1:1', apiKey: 'x' })";
  for (const code of [
    `await ${client}.run.status('run_1', { maxRequests: 1 })`,
    "await rungate.verify({ body: '', headers: {}, secrets: [] })",
  ]) {
    const { code: exit, err } = await program(code);
    expect(exit, code).toBe(1);
    expect(err).toMatch(/^\w*Error(: | \[)/m);
    expect(err.length).toBeLessThan(5000);
  }
});

it('an error of the built library has the name of its exported class', async () => {
  const { out } = await program(`
    const { UsageError, ConfigError, CredentialError, HttpError, UnexpectedResponseError, NetworkError } = rungate;
    const parts = { status: 500, field: '', expected: '', received: '' };
    const all = [new UsageError('m'), new ConfigError('m'), new CredentialError('m'), new HttpError('m', parts)];
    const more = [new UnexpectedResponseError('m', parts), new NetworkError('dns', 'm')];
    console.log([...all, ...more].map((one) => one.name + ' ' + one.constructor.name).join());
  `);
  const names = [
    'UsageError',
    'ConfigError',
    'CredentialError',
    'HttpError',
    'UnexpectedResponseError',
    'NetworkError',
  ];
  expect(out.trim()).toBe(names.map((name) => `${name} ${name}`).join());
});
