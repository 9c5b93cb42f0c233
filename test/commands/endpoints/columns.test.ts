import { describe, expect, it } from 'vitest';
import { cli, type Settings } from '../../cli/harness.ts';
import { json, serve } from '../../transport/serve.ts';

const staging = {
  id: 'env_1',
  name: 'Staging',
  key: 'staging',
  baseUrl: 'https://staging.shop.example/of/the/european/region',
  providerModel: 'large',
  version: '2.14.0',
  region: 'eu-central-1',
  mobileRuntimeOverrides: { deviceName: 'Pixel 9' },
};
const bare = { id: 'env_2', name: 'QA' };

const page = (items: readonly unknown[]) => ({ items, totalCount: items.length, page: 1, totalPages: 1 });

/** Runs a command against a service that always sends this response. */
async function runAgainst(body: unknown, argv: readonly string[], settings: Settings = {}) {
  const { url, seen } = await serve(({ response }) => json(response, 200, body));
  const env = { RUNGATE_API_URL: url, RUNGATE_TOKEN: 'token-hunter22', NO_COLOR: '1' };
  return { ...(await cli(argv, { ...settings, env })), seen };
}

const list = (
  argv: readonly string[] = [],
  settings: Settings = {},
  items: readonly unknown[] = [staging, bare],
) => runAgainst(page(items), ['env', 'list', ...argv], settings);

const lines = (text: string) => text.split('\n').slice(0, -1);
const each = [[[]], [['--all']]] as const;

describe('hidden columns', () => {
  it.each(each)('are listed on the last line, with the option that shows them (%j)', async (argv) => {
    const { out, err } = await list(argv, { isTTY: true });
    expect(lines(out)[0]).toMatch(/^ID +NAME +KEY +BASE URL$/);
    expect(err.replace(/\s+/g, ' ')).toBe(
      '4 columns are hidden: providerModel, version, region, mobileRuntimeOverrides; to show them, use --columns id,name,providerModel ',
    );
  });

  it.each(each)('are listed on standard error for tab-separated values too (%j)', async (argv) => {
    const { out, err } = await list(argv);
    expect(lines(out)[0]?.split('\t')).toHaveLength(6);
    expect(err).toBe(
      '2 columns are hidden: region, mobileRuntimeOverrides; to show them, use --columns id,name,region\n',
    );
  });

  it.each([['--quiet'], ['--json']])('are not listed with %s', async (flag) => {
    expect((await list([flag])).err).toBe('');
  });

  it('cause no message if there are none', async () => {
    expect(await list([], {}, [bare])).toMatchObject({ out: 'env_2\tQA\n', err: '' });
    expect((await list([], {}, [])).err).toBe('nothing found\n');
  });

  it('are shown by the options in the hint', async () => {
    const { err } = await list([], { isTTY: true });
    const [, names = ''] = /--columns (\S+)/.exec(err) ?? [];
    expect(await list(['--columns', names])).toMatchObject({
      out: 'env_1\tStaging\tlarge\nenv_2\tQA\t\n',
      err: '',
    });
  });

  it('are listed escaped and without secrets', async () => {
    const odd = { ...staging, '\u001b[31mtoken-hunter22': 1, 'a b': 2 };
    const { err } = await list([], {}, [odd]);
    expect(err).toContain('\\u001b[31m***, a b, mobileRuntimeOverrides');
    expect(err).toContain('--columns id,name,region\n');
  });

  it('of an unexpected list lead to a hint about --json', async () => {
    const { err } = await runAgainst([staging], ['env', 'create', '--name', 'x']);
    expect(err).toContain('2 columns are hidden: region, mobileRuntimeOverrides; to show them, use --json\n');
  });
});

describe('--columns', () => {
  it.each(each)(
    'shows these fields in this order, with an empty cell for a missing value (%j)',
    async (argv) => {
      const { out, err } = await list([...argv, '--columns', 'baseUrl, id,version']);
      expect(out).toBe(`${staging.baseUrl}\tenv_1\t2.14.0\n\tenv_2\t\n`);
      expect(err).toBe('');
    },
  );

  it.each(each)('shows these fields unshortened on a terminal of any width (%j)', async (argv) => {
    const names = 'id,baseUrl,providerModel,version,region,mobileRuntimeOverrides';
    const { out, err } = await list([...argv, '--columns', names], { isTTY: true });
    const words = out.split(/\s+/);
    for (const word of ['BASE', 'PROVIDER', 'VERSION', 'REGION', 'MOBILE']) expect(words).toContain(word);
    for (const word of [staging.baseUrl, 'large', '2.14.0', 'eu-central-1', '{"deviceName":"Pixel 9"}'])
      expect(out.replace(/"Pixel\s+9"/, '"Pixel 9"')).toContain(word);
    expect(lines(out).at(-1)?.split(/ +/)).toEqual(['env_2', '-', '-', '-', '-', '-']);
    expect(err).toBe('');
  });

  it.each(each)('warns about a field that no item has (%j)', async (argv) => {
    const { code, out, err } = await list([...argv, '--columns', 'id,naem,zzz']);
    expect({ code, out }).toEqual({ code: 0, out: 'env_1\t\t\nenv_2\t\t\n' });
    expect(lines(err)).toEqual([
      'warning: --columns: no item has the field "naem": did you mean name?',
      'warning: --columns: no item has the field "zzz": the fields are id, name, key, baseUrl, providerModel, version, region, mobileRuntimeOverrides',
    ]);
  });

  it.each([
    ['an empty name', ['--columns', 'id,,name'], /has an empty name\n.*--columns id,name/],
    ['no name', ['--columns', ' '], /has an empty name/],
    ['JSON', ['--columns', 'id', '--json'], /no effect on JSON/],
    ['NDJSON', ['--columns', 'id', '--format', 'ndjson'], /no effect on JSON/],
  ])('is a usage error with %s, and nothing is sent', async (_what, argv, message) => {
    const { code, err, seen } = await list(argv);
    expect(code).toBe(64);
    expect(err).toContain('--columns');
    if (!argv.includes('--json')) expect(err).toMatch(message);
    expect(seen).toEqual([]);
  });
});
