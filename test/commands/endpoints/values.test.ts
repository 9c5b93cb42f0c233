import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asked, cli, type Settings, type Stage, stage, trigger } from '../../cli/harness.ts';
import { json, serve } from '../../transport/serve.ts';

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

const sent = () => on.mock.requests.at(-1)?.body;
const respond = (text: string) =>
  on.mock.faults.add({ kind: 'reply', text, times: Number.POSITIVE_INFINITY });

/** JSON values that JSON.parse would round or lose. */
const hard = ['9007199254740993', '10.50', '-0', '{"__proto__":{"a":1.0}}', '"\\u0041"'];

describe('a value that JSON.parse would lose', () => {
  it.each(hard)('is sent unchanged, and printed unchanged: %s', async (value) => {
    respond('{}');
    await on.rungate('env', 'vars', 'create', 'e1', '--json-field', `value=${value}`);
    expect(sent()).toBe(`{"value":${value}}`);
    const stdin = `\ufeff{"__proto__": ${value}, "mobileRuntimeOverrides": {"limit": ${value}}}`;
    await on.with({ stdin })('env', 'update', 'e1', '--input', '-', '--device-name', 'd"');
    expect(sent()).toBe(
      `{"__proto__":${value},"mobileRuntimeOverrides":{"limit":${value},"deviceName":"d\\""}}`,
    );
    await on.rungate('api', 'POST', '/api/new-thing', '--json-field', `a=${value}`, '--field', 'text=10.50');
    expect(sent()).toBe(`{"text":"10.50","a":${value}}`);
    on.mock.faults.clear();
    respond(`{"runId":"r-1","extra":${value}}`);
    const { out } = await on.rungate(...trigger, '--format', 'ndjson');
    expect(out).toContain(`"response":{"runId":"r-1","extra":${value.replace('\\u0041', 'A')}}}\n`);
  });

  it.each([['1.0', '1.0', '1']])(
    'is a run id: %s matches a status with the runId %s',
    async (created, status, id) => {
      on.mock.faults.add({ kind: 'reply', text: `{"runId":${created}}`, endpoint: 'run.trigger' });
      const text = `{"runId":${status},"state":"completed","failed":0,"blocked":0}`;
      on.mock.faults.add({ kind: 'reply', text, endpoint: 'run.status', times: 2 });
      const { out } = await on.rungate(...trigger, '--wait', '--json');
      expect(JSON.parse(out).runs[0]).toMatchObject({ runId: id, verdict: 'passed' });
    },
  );

  it.each([['9007199254740993', '9007199254740992']])(
    'is a run id: %s does not match a status with the runId %s',
    async (created, status) => {
      on.mock.faults.add({ kind: 'reply', text: `{"runId":${created}}`, endpoint: 'run.trigger' });
      const text = `{"runId":${status},"state":"completed","failed":0,"blocked":0}`;
      on.mock.faults.add({ kind: 'reply', text, endpoint: 'run.status', times: 9 });
      const { code, err } = await on.rungate(...trigger, '--wait', '--max-attempts', '2', '--verbose');
      expect(code).not.toBe(0);
      expect(err).toContain(`that of the runId ${status}`);
    },
  );
});

describe('an empty value', () => {
  it.each(['', ' '])('of an option is a usage error: %j', async (value) => {
    const { code, err } = await on.rungate('env', 'update', 'staging', '--version', value);
    expect({ code, sent: asked(on.mock) }).toEqual({ code: 64, sent: [] });
    expect(err).toContain('--version is empty');
    expect(err).toContain('--json-field version=null');
  });

  it.each([
    [['--field', 'version='], ''],
    [['--json-field', 'version=null'], null],
  ])('is sent to clear a field: %j', async (flags, version) => {
    expect((await on.rungate('env', 'update', 'staging', ...flags)).code).toBe(0);
    expect(JSON.parse(sent() ?? '')).toEqual({ version });
  });
});

describe('names from the service', () => {
  it('have no escape sequences and no secrets in headings', async () => {
    const { token } = on.mock;
    respond(
      JSON.stringify({ items: [{ id: 'a', 'x\u001b]0;t\u0007\n\u009b31m': 'v', [`x${token}`]: 'v' }] }),
    );
    const { code, out } = await on.rungate('env', 'list', '--format', 'table');
    expect(code).toBe(0);
    expect(out).toMatch(/^ID/);
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(out.replace(/\s/g, '').toLowerCase()).not.toContain(token.slice(0, 20).toLowerCase());
  });

  it('keep direction marks in Hebrew texts, but not in keys, ids, names and other texts', async () => {
    const [marked, escaped] = ['\u200fשלום\u200e', '\\u200fשלום\\u200e'];
    respond(JSON.stringify({ items: [{ id: marked, name: marked, title: marked, note: 'a\u200eb' }] }));
    const { out } = await on.rungate('env', 'list', '--columns', 'id,name,title,note');
    expect(out).toBe(`${escaped}\t${escaped}\t${marked}\ta\\u200eb\n`);
  });
});

describe('columns', () => {
  const staging = {
    ...{ id: 'env_1', name: 'Staging', key: 'staging', baseUrl: 'https://staging.shop.example/of/europe' },
    ...{ providerModel: 'large', version: '2.14.0', region: 'eu-central-1', mobileRuntimeOverrides: {} },
  };
  const list = async (argv: readonly string[], settings: Settings = {}, items: unknown[] = [staging]) => {
    const { url, seen } = await serve(({ response }) => json(response, 200, { items, totalPages: 1 }));
    const env = { RUNGATE_API_URL: url, RUNGATE_TOKEN: 'token-hunter22', NO_COLOR: '1' };
    return { ...(await cli(['env', 'list', ...argv], { ...settings, env })), seen };
  };

  it('that are hidden are listed, with the option that shows them', async () => {
    const shown = await list([], { isTTY: true });
    expect(shown.out).toMatch(/^ID +NAME +KEY +BASE URL/);
    expect(shown.err).toMatch(/columns are hidden: .*--columns id,name,/s);
    expect((await list(['--json'])).err).toBe('');
    expect((await list([], {}, [{ id: 'a', name: 'b' }])).err).toBe('');
  });

  it.each([[[]], [['--all']]])('have the order of --columns (%j)', async (argv) => {
    const columns = ['--columns', 'baseUrl, id,naem'];
    const { out, err } = await list([...argv, ...columns], {}, [staging, { id: 'env_2' }]);
    expect(out).toBe(`${staging.baseUrl}\tenv_1\t\n\tenv_2\t\n`);
    expect(err).toBe('warning: --columns: no item has the field "naem": did you mean name?\n');
  });

  it.each([['JSON', ['--columns', 'id', '--format', 'ndjson'], /no effect on JSON/]])(
    'with %s are a usage error, and nothing is sent',
    async (_what, argv, message) => {
      const { code, err, seen } = await list(argv);
      expect({ code, seen }).toEqual({ code: 64, seen: [] });
      expect(err).toMatch(message);
    },
  );
});
