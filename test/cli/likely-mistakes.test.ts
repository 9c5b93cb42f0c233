import { expect, it } from 'vitest';
import { cli } from './harness.ts';

it.each<[string, string]>([
  ['config set project my shop', 'separate several values with commas'],
  ['webhooks list --include-global false', '--include-global takes no value'],
  ['run status run_1 --json state', '--json takes no value'],
  ['run trigger --tag smoke nightly', 'repeat --tag for each value'],
  ['run trigger --project my shop', 'put quotes around a value with spaces'],
  ['login hidden-secret', 'rungate login takes no arguments'],
])('suggests the likely correction for an extra argument: %s', async (line, says) => {
  const { code, out, err } = await cli(line.split(' '), { env: {} });
  expect({ code, out }).toEqual({ code: 64, out: '' });
  expect(err).not.toContain('hidden');
  expect(line.includes('--json') ? JSON.parse(err).error.hint : err).toContain(says);
});

it.each<[string, string]>([
  ['auth status', 'rungate doctor'],
  ['environments list', 'did you mean rungate env list?'],
  ['run view run_1', 'did you mean rungate run status?'],
  ['test', 'rungate gate starts a test run and waits for it'],
  ['gate --strict=false', 'write it alone, or write --no-strict'],
  ...['run list', 'runs', 'runs ls'].map((line): [string, string] => [
    line,
    'the service has no endpoint that lists runs: rungate run trigger prints the id',
  ]),
  ['key ls', 'the service has no endpoint that lists API keys'],
  ['run trigger -p=shop', 'write -p "…" or --project="…"'],
  ['env rm staging', 'did you mean rungate env delete?'],
  ['run status run_1 -o json', 'write --json or --format <format>'],
  ['keys create --output token', 'did you mean --output-file?'],
  ['run status run_1 --no-color', 'set NO_COLOR=1'],
  ['gate --retry 2', 'did you mean --retries?'],
  ['gate --url https://a.example', 'write --api-url <url> for the service, or --base-url <url>'],
  ['run status run_1 --url https://a.example', 'did you mean --api-url?'],
  ['gate --key secret-word', 'set RUNGATE_API_KEY in the environment'],
  ['gate --sha 3c1d9a7', 'did you mean --commit-sha?'],
  ['gate --bogus', 'see rungate gate --help --all'],
])('suggests the equivalent of a command or option of another tool: %s', async (line, hint) => {
  const { code, out, err } = await cli(line.split(' '));
  expect({ code, out }).toEqual({ code: 64, out: '' });
  expect(err).toContain(hint);
  expect(err.slice(err.indexOf('→'))).not.toContain('secret-word');
});

it.each(['help help', 'help', 'help help run', 'run help help'])('%s shows help', async (line) => {
  const { code, out, err } = await cli(line.split(' '));
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toContain(line.includes('run') ? 'Usage: rungate run' : 'Usage: rungate');
});
