import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kebab } from '../../../src/commands/endpoints/body-input.ts';
import { api, type EndpointName } from '../../../src/contract/index.ts';
import { isList } from '../../../src/contract/shape.ts';
import { asked, cli, type Stage, stage } from '../../cli/harness.ts';

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

const sent = () => on.mock.requests.at(-1);
const body = () => JSON.parse(sent()?.body ?? 'null');

/** Sets the next response, so that a test of a request depends on no data. */
function respond(endpoint: keyof typeof api, content: unknown = {}) {
  on.mock.faults.add({ kind: 'reply', text: JSON.stringify(content), endpoint });
}

describe('request bodies', () => {
  it('env create --version sets the version of the environment', async () => {
    respond('env.create');
    const { code } = await on.rungate('env', 'create', '--name', 'QA', '--version', '2.1');
    expect(code).toBe(0);
    expect(body()).toEqual({ name: 'QA', version: '2.1' });
  });

  it('the nested fields of an object field have options', async () => {
    respond('env.update');
    await on.rungate('env', 'update', 'e1', '--device-name', 'Pixel', '--android-app-package', 'com.acme');
    expect(body()).toEqual({
      mobileRuntimeOverrides: { deviceName: 'Pixel', androidAppPackage: 'com.acme' },
    });
  });

  it('--field always sends text, and --json-field always JSON', async () => {
    respond('env.vars.create');
    const flags = '--field value=007 --field q=a=b --json-field n=7 --json-field list=[1,"2"]';
    await on.rungate('env', 'vars', 'create', 'e1', ...flags.split(' '));
    expect(body()).toEqual({ value: '007', q: 'a=b', n: 7, list: [1, '2'] });
  });

  it('a file is sent as multipart/form-data with unchanged bytes', async () => {
    respond('observations.attach');
    const text = 'line\r\n\u00e9 --boundary "quoted"';
    const line = 'observations attach shop o1 --file logs/run.log';
    await on.with({ files: { 'logs/run.log': text } })(...line.split(' '));
    expect(sent()?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(sent()?.body).toContain(text);
    expect(sent()?.body).toMatch(/name="file"; filename="run\.log"/);
  });
});

describe('queries', () => {
  it('search sends the text as q, and other parameters unchanged', async () => {
    respond('observations.search', []);
    const others = '--query mode=semantic --query k=v=w'.split(' ');
    await on.rungate('observations', 'search', 'shop', 'a & b', ...others);
    expect(sent()?.query).toMatchObject({ q: 'a & b', mode: 'semantic', k: 'v=w' });
  });

  it('search sends the text under the name given by --text-param', async () => {
    respond('observations.search', []);
    await on.rungate('observations', 'search', 'shop', 'x', '--text-param', 'query');
    expect(sent()?.query).toEqual({ query: 'x' });
  });

  it.each([
    [[], undefined],
    [['--include-global'], 'true'],
    [['--no-include-global'], 'false'],
  ])('includeGlobal is sent only if it is given: %j', async (flags, value) => {
    respond('webhooks.list', { items: [] });
    await on.rungate('webhooks', 'list', ...flags);
    expect(sent()?.query.includeGlobal).toBe(value);
  });
});

describe('a destructive command', () => {
  const destructive = [
    ['env.delete', 'env delete staging', 'delete the environment staging'],
    ['env.vars.delete', 'env vars delete e1 v1', 'delete the variable v1 of the environment e1'],
    ['keys.delete', 'keys delete k1', 'delete the API key k1'],
    ['webhooks.delete', 'webhooks delete w1', 'delete the webhook w1'],
    ['webhooks.rotateSecret', 'webhooks rotate-secret w1', 'replace the secret of the webhook w1'],
  ] as const;

  it.each(destructive)('%s needs --yes if it cannot prompt', async (_name, line, act) => {
    const { code, out, err } = await on.rungate(...line.split(' '));
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toContain(`error: rungate did not ${act}: this cannot be undone`);
    expect(err).toContain(`→ add --yes: rungate ${line} --yes\n`);
    expect(on.mock.requests).toHaveLength(0);
  });

  it.each(destructive)('%s asks before it acts, and says what is gone', async (endpoint, line, act) => {
    const answers: readonly [string, number][] =
      endpoint === 'webhooks.rotateSecret'
        ? [['{"secret":"s"}', 200]]
        : [
            ['', 204],
            ['{"ok":true}', 200],
          ];
    for (const [body, status] of answers) {
      on.mock.faults.add({ kind: 'status', status, body, endpoint });
      const asked: string[] = [];
      const answer = (question: string) => {
        asked.push(question);
        return 'y';
      };
      const { code, err } = await on.with({ answer })(...line.split(' '));
      expect(code).toBe(0);
      expect(asked).toEqual([
        `${act.replace(/^./, (letter) => letter.toUpperCase())}? This cannot be undone. [y/N] `,
      ]);
      expect(err).toContain(`${act.replace('e the', 'ed the')}\n`);
    }
  });

  it.each([
    ['n', 1],
    ['', 1],
    ['yes', 0],
  ])('acts only after a yes at the prompt: "%s" leads to exit code %i', async (answer, expected) => {
    on.mock.faults.add({ kind: 'status', status: 204, body: '', endpoint: 'env.delete' });
    const { code, err } = await on.with({ answer })('env', 'delete', 'e1');
    expect(code).toBe(expected);
    const endpoints = on.mock.requests.map(({ endpoint }) => endpoint);
    if (expected === 0) return expect(endpoints.at(-1)).toBe('env.delete');
    expect(err).toMatch(/nothing was done/);
    expect(endpoints).toEqual([]);
  });
});

describe('a usage error with exit code 64, before anything is sent,', () => {
  it.each<[string, string[], RegExp]>([
    ['nothing to send', ['env', 'create'], /nothing to send[\s\S]*--field/],
    ['JSON that is invalid', ['env', 'create', '--json-field', 'n=seven'], /is not JSON[\s\S]*use --field/],
    [
      'an input file that does not exist',
      ['env', 'create', '--input', 'nowhere.json'],
      /--input cannot be read: no such file/,
    ],
    [
      'JSON instead of a file, which is not repeated',
      ['env', 'create', '--input', '{"key": "s3cret"}'],
      /^(?!.*s3cret).*--input cannot be read: no such file/s,
    ],
    ['an order id that gives the path of the summary', ['orders', 'get', 'summary'], /"summary"/],
    ['another host', ['api', 'GET', '//evil.example/x'], /not a path/],
    ['a GET with a body', ['api', 'GET', '/api/x', '--field', 'a=b'], /no body/],
  ])('is reported for %s', async (_name, argv, message) => {
    const { code, out, err } = await on.rungate(...argv);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(message);
    expect(on.mock.requests).toHaveLength(0);
  });
});

it.each(['name: a\nkey: s3cret\n', '{"name": "s3cret"', '{"a": 1} {"b": 2}', ' \n', '["s3cret"]'])(
  'a file for --input that is not a JSON object is refused, but not repeated: %j',
  async (body) => {
    const { code, err } = await on.with({ files: { body } })('env', 'create', '--input', 'body');
    expect({ code, sent: on.mock.requests }).toEqual({ code: 64, sent: [] });
    expect(err).toContain('error: --input is not a JSON object in UTF-8\n  → a JSON body looks like');
    expect(err).not.toContain('s3cret');
  },
);

describe('rungate api', () => {
  it('sends an undocumented request, and prints the response unchanged', async () => {
    on.mock.faults.add({ kind: 'reply', text: '{"id":12345678901234567890,"price":1.10}' });
    const line = 'api post /api/new-thing?dry=1&tag=a&tag=b --field name=x';
    const { code, out } = await on.rungate(...line.split(' '));
    expect(code).toBe(0);
    expect(out).toBe('{\n  "id": 12345678901234567890,\n  "price": 1.10\n}\n');
    expect(sent()).toMatchObject({
      method: 'POST',
      path: '/api/new-thing',
      query: { dry: '1', tag: ['a', 'b'] },
    });
    expect(body()).toEqual({ name: 'x' });
    expect(sent()?.headers.authorization).toBe(`Bearer ${on.mock.token}`);
  });
});

describe('help is generated from the API', () => {
  it.each(Object.entries(api).map(([name, endpoint]) => [name, endpoint] as const))(
    'has the parameters, summary and credentials of %s',
    async (name, endpoint) => {
      const { code, out } = await cli([...name.split('.').map(kebab), '--help']);
      expect(code).toBe(0);
      const [usage] = out.split('\n');
      for (const [, param] of endpoint.path.matchAll(/\{([^}]+)\}/g)) expect(usage).toContain(`<${param}`);
      if (name.startsWith('run.')) return;
      expect(out.replace(/\s+/g, ' ')).toContain(endpoint.summary);
      expect(out).toMatch(
        endpoint.auth === 'either' ? /RUNGATE_TOKEN[\s\S]*RUNGATE_API_KEY/ : /RUNGATE_TOKEN/,
      );
      expect(out.includes('cannot be undone')).toBe('destructive' in endpoint);
      expect(/^ {2}--all /m.test(out)).toBe('paged' in endpoint);
      expect(/^ {2}--columns /m.test(out)).toBe(isList(endpoint));
    },
  );
});

describe('an undocumented response', () => {
  it('with the secret of a new webhook gets a hint where to save it', async () => {
    const { err, out } = await on.rungate('webhooks', 'create', '--field', 'url=http://127.0.0.1:4020/');
    expect(out).toMatch(/whsec_/);
    expect(err).toMatch(/store the secret.*rungate login --webhook-secret/);
    expect(err).not.toContain('whsec_');
  });
});

it('for a path without /api, the hint says that paths begin with it', async () => {
  const { code, err } = await on.rungate('api', 'GET', '/environments');
  expect(code).toBe(5);
  expect(err).toContain('→ paths of the service begin with /api');
  expect(err).not.toContain('check the id');
});

it.each([
  ['webhooks test wh_1', 'rungate webhooks list'],
  ['webhooks deliveries get wh_1 dlv_1', 'rungate webhooks deliveries list wh_1'],
  ['observations get shop obs_1', 'rungate observations list shop'],
  ['orders get ord_1', 'rungate orders list'],
])('for an unknown id, the hint names the command that lists the ids: %s', async (line, list) => {
  const { code, err } = await on.rungate(...line.split(' '));
  expect(code).toBe(5);
  expect(err).toMatch(new RegExp(`^ +→ check the id; .*; ${list} shows the ids$`, 'm'));
});

describe('a success with an undocumented body', () => {
  it.each<[EndpointName, string[]]>([
    ['run.cancel', ['run', 'cancel', 'run_1']],
    ['env.delete', ['env', 'delete', 'e1', '--yes']],
    ['webhooks.test', ['webhooks', 'test', 'w1']],
  ])('%s accepts a text that is not JSON, and sends one request', async (endpoint, argv) => {
    for (const text of ['OK\n', 'Cancelled: \u001b[31mred', '{"half":', '  ', 'a,b\r\n1,2']) {
      const before = asked(on.mock).filter((name) => name === endpoint).length;
      on.mock.faults.add({ kind: 'reply', text, contentType: 'text/plain', endpoint });
      const { code, out } = await on.rungate(...argv, '--json');
      // `run cancel` prints nothing for an empty body.
      const none = endpoint === 'run.cancel' ? '' : null;
      expect({ code, out: out === '' ? '' : JSON.parse(out) }).toEqual({
        code: 0,
        out: text.trim() === '' ? none : text,
      });
      expect(asked(on.mock).filter((name) => name === endpoint)).toHaveLength(before + 1);
    }
  });
});
