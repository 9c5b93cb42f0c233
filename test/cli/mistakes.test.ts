import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signSync } from '../../src/webhook/node.ts';
import { type Stage, stage, trigger } from './harness.ts';
import { env, type Mistake, project } from './mistake.ts';
import { mistakesInGates } from './mistakes-in-gates.ts';
import { mistakesInValues } from './mistakes-in-values.ts';

let on: Stage;
beforeAll(async () => {
  on = await stage({ outcome: 'passed' });
});
afterAll(() => on.close());

const wait = [...trigger, '--wait'] as const;
const url = (make: (url: string) => string) => (on: Stage) => ({
  env: { RUNGATE_API_URL: make(on.mock.url) },
});
const secret = 'whsec_0123456789';
const sentAt = '2026-11-20T12:00:00Z';
const body = '{"event":"run.completed","failed":0}';
const signed = signSync({ body, secret, timestamp: sentAt });
const verify = [
  'webhooks',
  'verify',
  '--timestamp',
  sentAt,
  '--signature',
  signed.signature,
  '--body-file',
  'b',
];
const kept = (text: string) => () => ({ env: { RUNGATE_WEBHOOK_SECRET: secret }, files: { b: text } });

const mistakes: readonly Mistake[] = [
  {
    name: 'a policy without --wait',
    argv: [...trigger, '--strict'],
    code: 64,
    says: ['--strict has no effect without --wait', 'add --wait'],
  },
  {
    name: 'no URL',
    argv: wait,
    world: env({ RUNGATE_API_URL: undefined }),
    code: 78,
    says: ['no service is set', '--api-url <url>', 'RUNGATE_API_URL', 'rungate login', '.rungate.json'],
  },
  {
    name: 'no credential',
    argv: wait,
    world: env({ RUNGATE_API_KEY: undefined, RUNGATE_TOKEN: undefined }),
    code: 6,
    says: ['needs an API key, but none is set', 'RUNGATE_API_KEY', 'RUNGATE_API_KEY_FILE', 'rungate login'],
  },
  {
    name: 'a pull request from a fork, in which the variable is empty',
    argv: wait,
    world: env({ RUNGATE_API_KEY: '', RUNGATE_TOKEN: undefined, CI: 'true' }),
    code: 6,
    says: ['RUNGATE_API_KEY is set but empty', 'pull requests from forks'],
  },
  {
    name: 'a wrong key',
    argv: wait,
    world: env({ RUNGATE_API_KEY: 'rg_of_another_service' }),
    code: 6,
    says: ['refused the API key (401)', 'check RUNGATE_API_KEY: it may be mistyped'],
    sent: 1,
  },
  {
    name: 'a token in place of the key',
    argv: wait,
    world: (on) => ({ env: { RUNGATE_API_KEY: on.mock.token } }),
    code: 6,
    says: ['refused the API key (401)', 'the value looks like a token; tokens belong in RUNGATE_TOKEN'],
    sent: 1,
  },
  {
    name: 'a key in place of the token',
    argv: ['webhooks', 'list'],
    world: (on) => ({ env: { RUNGATE_TOKEN: on.mock.apiKey } }),
    code: 6,
    says: [
      'refused the bearer token (401)',
      'the value looks like an API key; keys belong in RUNGATE_API_KEY',
    ],
    sent: 1,
  },
  {
    name: 'a secret on the command line',
    argv: [...wait, '--api-key', 'rg_1234567890abcdef'],
    code: 64,
    says: ['there is no option --api-key', 'any process', 'set RUNGATE_API_KEY or RUNGATE_API_KEY_FILE'],
  },
  {
    name: 'https for a service that uses http',
    argv: ['run', 'status', 'run_1'],
    world: url((one) => one.replace('http:', 'https:')),
    code: 7,
    says: ['no TLS connection to', 'use http:// instead of https://'],
  },
  {
    name: 'http to another machine',
    argv: wait,
    world: env({ RUNGATE_API_URL: 'http://service.example.com' }),
    code: 78,
    says: ['uses http, which is not encrypted: service.example.com', 'use https://'],
  },
  {
    name: 'a URL without https://',
    argv: wait,
    world: env({ RUNGATE_API_URL: 'localhost:4010' }),
    code: 78,
    says: ['must begin with https:// or http://', 'http://localhost:4010'],
  },
  {
    name: '/api/v1 at the end of the URL',
    argv: ['webhooks', 'delete', 'wh_1', '--yes'],
    world: url((one) => `${one}/api/v1`),
    code: 5,
    says: ['(404)', 'check RUNGATE_API_URL, which ends in /api/v1'],
    sent: 1,
  },
  {
    name: 'a service or mock that is not running',
    argv: ['run', 'status', 'run_1'],
    world: env({ RUNGATE_API_URL: 'http://127.0.0.1:1' }),
    code: 7,
    says: ['nothing is listening at 127.0.0.1:1', 'rungate mock serve'],
  },
  {
    name: 'a proxy that is not running',
    argv: ['run', 'status', 'run_1'],
    world: env({ RUNGATE_API_URL: 'https://service.example.com', HTTPS_PROXY: 'http://127.0.0.1:1' }),
    code: 7,
    says: ['through the proxy', 'check HTTPS_PROXY', 'NO_PROXY'],
  },
  {
    name: 'a process and tags',
    argv: [...wait, '--tag', 'smoke'],
    code: 64,
    says: ['a process and tags cannot be combined', '--process <slug>, or --tag <tag>'],
  },
  {
    name: 'neither a process nor tags',
    argv: ['run', 'trigger', '--project', 'shop'],
    code: 64,
    says: ['no process or tag to run', '--process <slug>', '.rungate.json', 'rungate config set process'],
  },
  {
    name: 'no project',
    argv: ['run', 'trigger', '--process', 'checkout'],
    code: 64,
    says: ['no project to run', '--project <slug>', 'RUNGATE_PROJECT', '.rungate.json'],
  },
  {
    name: 'a project that the service does not know',
    argv: ['run', 'trigger', '--project', 'shpo', '--process', 'checkout'],
    world: (on) => {
      on.mock.faults.add({ kind: 'status', status: 404, endpoint: 'run.trigger', times: 1 });
      return {};
    },
    code: 5,
    says: [
      '(404) for POST /api/ci/runs',
      'check the slugs of the project and the process, the tags, and the key',
    ],
    sent: 1,
  },
  {
    name: 'a duration with an unknown unit',
    argv: [...wait, '--timeout', '60min'],
    code: 64,
    says: ['--timeout: "60min" is not a duration', '5m', 'a number without a unit is in seconds'],
  },
  {
    name: 'a run id with whitespace around it',
    argv: ['run', 'wait', 'run_1 '],
    code: 64,
    says: ['<runId> has whitespace around it', 'remove the whitespace: run_1'],
  },
  {
    name: 'the URL of a run in place of its id',
    argv: ['run', 'status', 'https://app.example.test/projects/shop/runs/run_1?tab=log'],
    code: 64,
    says: ['<runId> is a URL', 'its last part is probably the id: run_1'],
  },
  {
    name: 'a policy with a colon',
    argv: [...wait, '--on', 'cancelled:fail'],
    code: 64,
    says: ['--on: "cancelled:fail" is not <verdict>=<action>', '--on cancelled=fail'],
  },
  {
    name: 'a misspelt verdict',
    argv: [...wait, '--on', 'faild=fail'],
    code: 64,
    says: ['unknown verdict "faild"', 'did you mean failed?'],
  },
  {
    name: 'a comma after the last setting',
    argv: wait,
    world: project('{\n  "project": "shop",\n}\n'),
    code: 78,
    says: [
      /\/repo\/\.rungate\.json:[23]:\d+: not valid JSON/,
      'neither comments nor a comma after the last item',
    ],
  },
  {
    name: 'a misspelt setting in the project file',
    argv: wait,
    world: project('{\n  "projct": "shop"\n}\n'),
    code: 78,
    says: ['/repo/.rungate.json:2:3: unknown setting "projct"', 'did you mean "project"?'],
  },
  {
    name: 'an API key in the project file',
    argv: wait,
    world: project('{ "apiKey": "rg_1234567890abcdef" }'),
    code: 78,
    says: ['"apiKey" looks like a secret', 'RUNGATE_API_KEY', 'have the service issue a new one'],
  },
  {
    name: 'a project file that does not exist',
    argv: [...wait, '--config', 'ci/gate.json'],
    code: 78,
    says: ['cannot read the project file: /nowhere/ci/gate.json (ENOENT)', '--config none'],
  },
  {
    name: "another user's project file in a parent folder",
    argv: wait,
    world: () => ({
      ...project('{ "project": "shop" }')(),
      cwd: '/repo/web',
      owners: { '/repo/.rungate.json': [1001, 1001] },
    }),
    code: 78,
    says: ['belongs to another user: /repo/.rungate.json (user id 1001)', '--config /repo/.rungate.json'],
  },
  {
    name: 'no webhook secret',
    argv: verify,
    world: () => ({ files: { b: body } }),
    code: 78,
    says: ['no webhook secret is set', 'RUNGATE_WEBHOOK_SECRET', 'rungate login --webhook-secret'],
  },
  {
    name: 'a webhook body that was parsed and serialized again',
    argv: verify,
    world: kept('{ "event": "run.completed", "failed": 0 }'),
    code: 1,
    says: ['the signature does not match', '--diagnose'],
  },
  {
    name: 'an old delivery, with a tolerance',
    argv: [...verify, '--tolerance', '5m', '--at', '2026-11-21T12:00:00Z'],
    world: kept(body),
    code: 1,
    says: [
      '86400 s old, which is more than the allowed 300 s',
      'to verify an archived delivery, omit --tolerance',
    ],
  },
  {
    name: 'a body file that does not exist',
    argv: verify,
    world: () => ({ env: { RUNGATE_WEBHOOK_SECRET: secret } }),
    code: 64,
    says: ['--body-file: cannot read b: no such file', 'or - for standard input'],
  },
  {
    name: 'a misspelt command',
    argv: ['run', 'wiat', 'run_1'],
    code: 64,
    says: ["unknown command 'wiat'", 'did you mean rungate run wait?'],
  },
  {
    name: 'a command without its group',
    argv: ['trigger', '--project', 'shop'],
    code: 64,
    says: ["unknown command 'trigger'", 'did you mean rungate run trigger?'],
  },
  {
    name: 'a misspelt option',
    argv: [...wait, '--enviroment', 'staging'],
    code: 64,
    says: ["unknown option '--enviroment'", 'did you mean --environment?'],
  },
  {
    name: 'a value for an option that takes none',
    argv: [...wait, '--strict=true'],
    code: 64,
    says: ["unknown option '--strict'", '--strict takes no value'],
  },
  {
    name: 'a misspelt format',
    argv: ['run', 'status', 'run_1', '--format', 'jsno'],
    code: 64,
    says: ['--format: "jsno" is not one of table, json, ndjson', 'did you mean json?'],
  },
  ...mistakesInValues,
  ...mistakesInGates,
];

/** Replaces the ports, which differ between runs. */
const withoutPorts = (text: string) => text.replaceAll(/\b(127\.0\.0\.1|localhost):\d{5}/g, '$1:PORT');

const page: string[] = [];

describe('the mistakes of a new user', () => {
  it.each(mistakes.map((mistake) => [mistake.name, mistake] as const))('%s', async (_name, mistake) => {
    const { argv, world, code, says, sent = 0 } = mistake;
    const before = on.mock.requests.length;
    const ended = await on.with(world?.(on) ?? {})(...argv);
    expect(ended.code, ended.err).toBe(code);
    for (const part of says) {
      if (typeof part === 'string') expect(ended.err).toContain(part);
      else expect(ended.err).toMatch(part);
    }
    // The remedy is on its own line.
    expect(ended.err).toMatch(/^ +→ \S/m);
    expect(on.mock.requests.length - before).toBe(sent);
    for (const one of [on.mock.apiKey, on.mock.token, secret, 'rg_1234567890abcdef', 'rg_of_another_service'])
      expect(ended.out + ended.err).not.toContain(one);
    const words = argv.map((word) => (/[\s{]/.test(word) ? JSON.stringify(word) : word)).join(' ');
    page.push(
      `# ${mistake.name}\n$ rungate ${withoutPorts(words)}\n${withoutPorts(ended.err)}exit code ${ended.code}\n`,
    );
  });

  it('are listed with their messages in fixtures/mistakes.txt', async () => {
    expect(page).toHaveLength(mistakes.length);
    // To update it: npx vitest run --project runtime test/cli/mistakes.test.ts --update
    await expect(page.join('\n')).toMatchFileSnapshot('../../fixtures/mistakes.txt');
  });
});

/** Returns the number of columns of a line on a terminal. */
const columns = (line: string) => line.replaceAll(/\u001b\[\d+m/g, '').length;

it.each([false, true])(
  'a terminal shows the messages in lines of 80 columns, wrapped between words; coloured: %j',
  async (color) => {
    for (const { name, argv, world } of mistakes) {
      const settings = world?.(on) ?? {};
      const env = { ...settings.env, ...(color ? {} : { NO_COLOR: '1' }) };
      const { err } = await on.with({ ...settings, env, isTTY: true })(...argv, '--quiet');
      expect(err.includes('\u001b['), name).toBe(color);
      const long = err.split('\n').filter((line) => columns(line) > 80);
      // A line without spaces is a URL or a command, which is not broken.
      expect(
        long.filter((line) =>
          line
            .trim()
            .replace(/^(→|error:) /, '')
            .includes(' '),
        ),
      ).toEqual([]);
    }
  },
);
