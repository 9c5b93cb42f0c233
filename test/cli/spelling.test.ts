import { expect, it } from 'vitest';
import { cli } from './harness.ts';

it.each<[string, string[]]>([
  ['config set tags smoke nightly', ['separate the values with commas: smoke,nightly']],
  ['config set on cancelled fail', ['write <verdict>=<action>', 'cancelled=fail,timeout=warn']],
  ['config set project my shop', ['put quotes around a value with spaces']],
  ['env vars create staging A=1', ['write --field name=A --field value=1']],
  ['env vars update staging A B=1', ['write --field name=A --field value=1']],
  ['env update staging version=1', ['write each field as an option: --field <name>=<value>']],
  ['webhooks list --include-global false', ['--include-global takes no value', 'write --no-include-global']],
  [
    'webhooks list --include-global true',
    ['--include-global takes no value', 'write --include-global alone'],
  ],
  ['run trigger --strict true', ['--strict takes no value', 'write --strict alone']],
  ['run trigger --quiet true', ['--quiet takes no value: write it alone']],
  ['env list --columns id name', ['separate the names with commas: --columns id,name']],
  ['env list --json id,name', ['--json takes no value', '--columns id,name']],
  ['run status run_1 --json state', ['--json takes no value', 'jq']],
  ['run trigger --tag smoke nightly', ['repeat --tag for each value']],
  ['run trigger --project my shop', ['put quotes around a value with spaces: --project "…"']],
  ['run cancel run_1 too slow', ['--reason "…"']],
  ['run status run_1 run_2', ['one run at a time', 'run wait takes several']],
  ['keys delete a b', ['one item at a time']],
  ['env delete a b', ['one item at a time']],
  ['login hidden-secret', ['type the secret at the prompt', 'rungate login < file']],
])('suggests the likely correction for an extra argument: %s', async (line, says) => {
  const { code, out, err } = await cli(line.split(' '), { env: {} });
  expect({ code, out }).toEqual({ code: 64, out: '' });
  expect(err).not.toContain('hidden');
  for (const part of says) {
    if (line.includes('--json')) expect(JSON.parse(err).error.hint).toContain(part);
    else expect(err).toContain(part);
  }
});

it.each<[string, string]>([
  ['version 1', 'rungate --version'],
  ['run -V', 'rungate --version'],
  ['whoami', 'rungate doctor'],
  ['auth status', 'rungate doctor'],
  ['auth login', 'rungate login'],
  ['auth logout', 'rungate logout'],
  ['auth', 'rungate login'],
  ['environments list', 'did you mean rungate env list?'],
  ['environments', 'did you mean rungate env?'],
  ['environments secret-word', 'did you mean rungate env?'],
  ['run view run_1', 'did you mean rungate run status?'],
  ['run show run_1', 'did you mean rungate run status?'],
  ['run watch run_1', 'did you mean rungate run wait?'],
  ['test', 'rungate gate starts a test run and waits for it'],
  ['start', 'rungate gate starts a test run and waits for it'],
  ['run trigger --gates web', 'rungate gate web'],
  ['gate --strict=false', 'write it alone, or --no-strict'],
  ['run start', 'did you mean rungate run trigger?'],
  ['run stop run_1', 'did you mean rungate run cancel?'],
  ['run delete run_1', 'did you mean rungate run cancel?'],
  ['run rerun run_1', 'rungate run trigger starts a new run'],
  ...['run list', 'run ls', 'runs', 'runs list', 'runs ls'].map((line): [string, string] => [
    line,
    'the service has no endpoint that lists runs: rungate run trigger prints the id',
  ]),
  ['runs wait run_1', 'did you mean rungate run wait?'],
  ['keys list', 'the service has no endpoint that lists API keys'],
  ['key ls', 'the service has no endpoint that lists API keys'],
  ['run trigger --all', 'write --help --all'],
  ['run trigger -p=shop', 'write -p "…" or --project="…"'],
  ['env show staging', 'did you mean rungate env list?'],
  ['env rm staging', 'did you mean rungate env delete?'],
  ['env set staging', 'did you mean rungate env update?'],
  ['webhooks add', 'did you mean rungate webhooks create?'],
  ['webhooks ls', 'did you mean rungate webhooks list?'],
  ['config show', 'did you mean rungate config get?'],
  ['config edit', 'did you mean rungate config set?'],
  ['config rm project', 'did you mean rungate config unset?'],
  ['run status run_1 -o json', 'write --json or --format <format>'],
  ['run status run_1 -ojson', 'did you mean --json?'],
  ['run status run_1 --output json', 'write --json or --format <format>'],
  ['keys create --output token', 'did you mean --output-file?'],
  ['run status run_1 --no-color', 'set NO_COLOR=1'],
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
