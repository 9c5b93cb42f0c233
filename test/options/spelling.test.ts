import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ConfigError, NetworkError, UsageError } from '../../src/errors.ts';
import { nameInCommands, nameInLibrary } from '../../src/options/spelling.ts';
import { rows } from '../../src/options/table.ts';

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);
const saidIn = (text: string) => [...text.matchAll(/\bnameOf\('([\w.]+)'/g)].map(([, id = '']) => id);
const said = [...new Set(sources.flatMap((file) => saidIn(readFileSync(`src/${file}`, 'utf8'))))];

test('each option that an error names has a row, or is a phrase', () => {
  expect(said.length).toBeGreaterThan(10);
  const unknown = said.filter((id) => !(id in rows) && nameInCommands(id) === id && nameInLibrary(id) === id);
  expect(unknown).toEqual([]);
});

test('options have the names of the place where the error is shown', () => {
  const names = ['apiUrl', 'insecureHttp', 'deployed.timeout', 'run.idPointer', 'hubTokens'];
  expect(names.map((id) => nameInCommands(id))).toEqual([
    'RUNGATE_API_URL',
    '--insecure-http',
    '--deployed-timeout',
    'run.idPointer',
    'RUNGATE_HUB_TOKEN',
  ]);
  expect(names.map((id) => nameInLibrary(id))).toEqual([
    'apiUrl',
    'insecureHttp: true',
    'deployed.timeoutMs',
    'idPointer',
    'hub.token',
  ]);
});

test('an error is worded once, with the text that was put around it', () => {
  const error = new ConfigError('the URL is not set', { hint: (nameOf) => `set ${nameOf('apiUrl')}` });
  error.hint = `try again, or ${error.hint}`;
  error.message = `gate web: ${error.message}`;
  error.word(nameInCommands).word(nameInLibrary);
  expect(error).toMatchObject({
    message: 'gate web: the URL is not set',
    hint: 'try again, or set RUNGATE_API_URL',
  });
});

test('an error words the texts of its cause, which it repeats', () => {
  const cause = new NetworkError('connect', 'no connection', {
    hint: (nameOf) => `check ${nameOf('apiUrl')}`,
  });
  const error = new UsageError(cause.message, {
    hint: `${cause.hint}!`,
    cause: new Error('between', { cause }),
  });
  expect(error.word(nameInCommands).hint).toBe('check RUNGATE_API_URL!');
});

test('a cause that is its own cause is the cause of an error', () => {
  const cause: Error = new Error('socket');
  cause.cause = cause;
  expect(new ConfigError('no connection', { cause }).cause).toBe(cause);
});
