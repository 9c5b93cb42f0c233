import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { everyCommand } from '../../../src/cli/program.ts';
import { fullName } from '../../../src/commands/command.ts';
import { faultNames } from '../../../src/mock/faults/parse.ts';
import { deliveryScopes } from '../../../src/mock/options.ts';
import { outcomes } from '../../../src/mock/runs.ts';
import { asked, cli, inRepository, type Stage, stage } from '../../cli/harness.ts';

let on: Stage;
let folder: string;
beforeEach(async () => {
  on = await stage();
  folder = mkdtempSync(join(tmpdir(), 'rungate-completion-'));
  on.env.RUNGATE_CONFIG_DIR = folder;
});
afterEach(async () => {
  await on.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the output for zsh. The arguments are the words after the program's name; the last is at the cursor. */
async function reply(words: readonly string[], rungate = on.rungate): Promise<string[]> {
  const { code, out, err } = await rungate('completion', '--complete', 'zsh', '--', ...words);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out.trimEnd().split('\n');
}

/** Returns only the candidates. */
async function values(...words: string[]): Promise<string[]> {
  const [head, ...rest] = await reply(words);
  expect(head).toMatch(/^words( attached)?$/);
  return rest.map((line) => line.replace(/\t.*$/, ''));
}

const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];

describe('completion', () => {
  it('offers every command and every option', async () => {
    for (const command of all(await everyCommand())) {
      const path = fullName(command).split(' ').slice(1);
      const names = command.commands.map((child) => child.name());
      if (names.length > 0) expect(await values(...path, ''), path.join(' ')).toEqual(names);
      const flags = command.options.flatMap(({ long, hidden }) => (hidden ? [] : String(long)));
      const help = path.length === 0 ? [] : ['--help'];
      expect(await values(...path, '-'), path.join(' ')).toEqual([...flags, ...help]);
    }
  });

  const counted = ['flaky', 'failed', 'blocked', 'cancelled'].flatMap((one) =>
    ['pass', 'warn', 'fail'].map((a) => `${one}=${a}`),
  );
  it.each<[line: string, expected: readonly string[]]>([
    ['--format ', ['table', 'json', 'ndjson']],
    ['--format=', ['table', 'json', 'ndjson']],
    ['orders list --auth ', ['bearer', 'key']],
    [
      'run wait a --on ',
      [...counted, ...['timeout', 'unobserved', 'mismatch'].flatMap((one) => [`${one}=warn`, `${one}=fail`])],
    ],
    ['mock serve --outcome ', outcomes],
    ['mock exec --fault ', faultNames],
    ['mock serve --deliver ', deliveryScopes],
    ['mock serve --rate-limit ', ['documented', 'off']],
    ['selftest --cancelled ', ['green', 'red', 'any']],
    ['config set strict ', ['true', 'false']],
    ['config set apiKey ', []],
    ['api ', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']],
    ['completion ', ['bash', 'zsh', 'fish', 'powershell']],
    ['run status ', []],
    ['run trigger --project ', []],
    ['run no-such-command --', []],
    ['completion zsh ', []],
  ])('offers the expected values after "%s"', async (line, expected) => {
    expect(await values(...line.split(' '))).toEqual([...expected]);
  });

  it('offers an option only once, unless it is repeatable', async () => {
    const flags = await values('run', 'wait', 'a', '--strict', '--on', 'failed=warn', '--');
    expect(flags).not.toContain('--strict');
    expect(flags).toContain('--on');
  });

  it('distinguishes option values from commands, and words after -- from options', async () => {
    expect(await values('run', 'trigger', '--project', 'run', '--form')).toContain('--format');
    expect(await values('--profile', 'orders', 'run', '')).toContain('trigger');
    expect(await values('-q', 'run', '')).toContain('wait');
    expect(await values('orders', 'get', '--', '--form')).not.toContain('--format');
    expect(await values('help', 'run', '')).toContain('trigger');
  });

  it.each([
    [['run', 'wait', '--junit', ''], 'files'],
    [['run', 'wait', '--junit=a'], 'files attached'],
    [['webhooks', 'listen', '--save', ''], 'folders'],
    [['mock', 'exec', 'git', '--ver'], 'files'],
    [['selftest', '--', 'bash', '-c', ''], 'files'],
  ])('after %j leaves completion to the shell: %s', async (words, head) => {
    expect(await reply(words)).toEqual([head]);
  });

  it('offers the existing profiles', async () => {
    const profiles = {
      work: { settings: {}, secrets: {} },
      home: { settings: {}, secrets: { tenantSecret: 'hush-hush' } },
    };
    writeFileSync(join(folder, 'profiles.json'), JSON.stringify({ version: 1, profiles }));
    expect(await values('--profile', '')).toEqual(['work', 'home']);
  });
});

describe('keys of environments from the service', () => {
  const environment = (more: object) => ({ name: 'Some name', ...more });
  const answer = (items: readonly unknown[]) =>
    on.mock.faults.add({ kind: 'reply', text: JSON.stringify({ items }), times: Number.POSITIVE_INFINITY });

  it('are offered with their names, wherever a command takes one', async () => {
    for (const words of [
      ['run', 'trigger', '--environment'],
      ['run', 'trigger', '-e'],
      ['observations', 'list', 'p', '--discovered-in-environment-key'],
      ['env', 'delete'],
      ['env', 'vars', 'list'],
    ]) {
      expect(await reply([...words, '']), words.join(' ')).toContain('production-eu\tProduction EU');
    }
    expect(await values('run', 'trigger', '--environment=sta')).toContain('staging');
  });

  it.each<[string, Record<string, string | undefined>]>([
    ['no credential', { RUNGATE_TOKEN: undefined, RUNGATE_API_KEY: undefined }],
    ['an API key alone, which cannot list them', { RUNGATE_TOKEN: undefined }],
    ['a wrong token', { RUNGATE_TOKEN: 'wrong-token' }],
    ['an invalid URL', { RUNGATE_API_URL: 'no address' }],
    ['no service at the URL', { RUNGATE_API_URL: 'http://127.0.0.1:1' }],
    ['a profile that does not exist', { RUNGATE_PROFILE: 'missing' }],
  ])('are empty, without a message, with %s', async (_what, env) => {
    expect(await reply(['run', 'trigger', '--environment', ''], on.with({ env, isTTY: true }))).toEqual([
      'words',
    ]);
  });

  it.each(['html-200', 'cut-json', 'reset', 'wrong-types'] as const)(
    'are empty for a %s response',
    async (kind) => {
      on.mock.faults.add({ kind, times: Number.POSITIVE_INFINITY });
      expect(await values('run', 'trigger', '--environment', '')).toEqual([]);
    },
  );

  const environments = ['run', 'trigger', '--environment', ''];
  const nowhere = { RUNGATE_API_URL: undefined as never };
  /** Writes a profile with a token for a service, with or without its URL. */
  const profile = (origin: string, settings: object) =>
    writeFileSync(
      join(folder, 'profiles.json'),
      JSON.stringify({
        version: 1,
        profiles: { default: { settings, secrets: { token: { value: on.mock.token, origin } } } },
      }),
      { mode: 0o600 },
    );

  it.each<[string, () => { words?: string[]; settings: Parameters<Stage['with']>[0] }]>([
    ['the project file', () => ({ settings: inRepository({ apiUrl: on.mock.url }, nowhere) })],
    ['the line', () => ({ words: ['--api-url', on.mock.url], settings: { env: nowhere } })],
    [
      'the profile',
      () => {
        profile('https://elsewhere.example', { apiUrl: on.mock.url });
        return { settings: { env: nowhere } };
      },
    ],
    [
      "the environment, vouched for by a project file's caFile",
      () => {
        const { cwd, files } = inRepository({ caFile: 'own.pem' });
        return {
          settings: {
            cwd,
            files: {
              ...files,
              '/repo/own.pem': readFileSync(new URL('../../transport/tls/ca.pem', import.meta.url)),
            },
          },
        };
      },
    ],
  ])("are empty if the environment's credential would be sent to the URL from %s", async (_what, world) => {
    const { words = [], settings } = world();
    expect(await reply([...words, ...environments], on.with(settings))).toEqual(['words']);
    expect(asked(on.mock)).toEqual([]);
  });

  it("use the environment's credential if the line names the service of RUNGATE_API_URL", async () => {
    const typed = ['--api-url', `${on.mock.url}/other`, ...environments];
    expect(await reply(typed)).toEqual(['words']);
    expect(on.mock.requests).toHaveLength(1);
    const elsewhere = await stage();
    try {
      expect(await reply(['--api-url', elsewhere.mock.url, ...environments])).toEqual(['words']);
      expect(elsewhere.mock.requests).toHaveLength(0);
    } finally {
      await elsewhere.close();
    }
  });

  it("use the profile's credential for the service that it was saved for, wherever the URL comes from", async () => {
    profile(new URL(on.mock.url).origin, {});
    const own = { RUNGATE_TOKEN: undefined as never, RUNGATE_API_KEY: undefined as never, ...nowhere };
    const found = on.with(inRepository({ apiUrl: on.mock.url }, own));
    expect(await reply(environments, found)).not.toEqual(['words']);
    const typed = ['--api-url', on.mock.url, 'env', 'delete', ''];
    expect(await reply(typed, on.with({ env: own }))).not.toEqual(['words']);
    const elsewhere = await stage();
    try {
      expect(await reply(['--api-url', elsewhere.mock.url, ...environments], on.with({ env: own }))).toEqual([
        'words',
      ]);
      expect(asked(elsewhere.mock)).toEqual([]);
    } finally {
      await elsewhere.close();
    }
  });

  it('leave out values that could control a terminal, break the line or look like an option', async () => {
    const bad = [
      '\u001b[31mred',
      'two\nlines',
      'a\ttab',
      'bell\u0007',
      'c1\u009b31m',
      'bidi\u202e',
      '--yes',
      '-rf',
      '',
    ];
    answer([...bad, 7, null, ['x'], 'good'].map((key) => environment({ key })));
    expect(await values('run', 'trigger', '--environment', '')).toEqual(['good']);
  });

  it('show names as sanitised text on one line', async () => {
    answer([environment({ key: 'a', name: 'x\u001b]0;title\u0007\n$(id)\t::error::' })]);
    expect(await reply(['run', 'trigger', '--environment', ''])).toEqual([
      'words',
      'a\tx\\u001b]0;title\\u0007\\n$(id)\\t::error::',
    ]);
  });

  it('never contain a credential', async () => {
    const { RUNGATE_TOKEN: token = '', RUNGATE_API_KEY: key = '' } = on.env;
    answer([
      environment({ key: token, baseUrl: 'https://user:hush@example.test' }),
      environment({ key: 'a', name: `echo ${key}`, value: 'hush' }),
    ]);
    expect(await reply(['run', 'trigger', '--environment', ''])).toEqual(['words', 'a']);
  });
});

describe('rungate completion', () => {
  it.each([[['completion', 'tcsh']], [['completion', '--complete', 'elvish', '--', 'run']]])(
    '%j is a usage error that names the shells',
    async (argv) => {
      const { code, out, err } = await cli(argv);
      expect({ code, out }).toEqual({ code: 64, out: '' });
      expect(err).toContain('bash, zsh, fish or powershell');
    },
  );
});
