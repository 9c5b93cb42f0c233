import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { prepareRequest, type RequestInput, type Sender } from '../../src/client/request.ts';
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { api, type EndpointName } from '../../src/contract/index.ts';
import {
  ConfigError,
  CredentialError,
  type RungateError,
  redactError,
  UsageError,
} from '../../src/errors.ts';
import { nameInCommands, nameInLibrary } from '../../src/options/spelling.ts';
import { redactor } from '../../src/redact.ts';
import { parseApiUrl, receiver } from '../../src/transport/address.ts';
import { thrown } from './rejection.ts';

const apiUrl = 'https://service.example.com';
const both = { apiKey: 'key-123', token: 'token-456' };
const selected = { projectSlug: 'shop', processSlug: 'checkout' };

type Target = Partial<Sender> & { apiUrl?: string; insecureHttp?: boolean };

function prepare(name: EndpointName, input: Partial<RequestInput> = {}, target: Target = {}) {
  const endpoint: Endpoint = api[name];
  const { nameOf = nameInCommands } = target;
  const base = parseApiUrl(target.apiUrl ?? apiUrl, receiver('service', nameOf), target.insecureHttp);
  const { apiKey = '', token = '' } = { ...both, ...target };
  const redact = redactor([apiKey, token]);
  try {
    return prepareRequest(name, endpoint, { params: {}, ...input }, base, { ...both, ...target, nameOf });
  } catch (error) {
    // As the caller does.
    throw redactError(error as RungateError, redact);
  }
}

const refused = (name: EndpointName, input: Partial<RequestInput>) =>
  thrown(() => prepare(name, input, { nameOf: nameInLibrary }), UsageError);

describe('the API URL', () => {
  test.each([
    ['https://service.example.com', 'https://service.example.com/api/orders.json'],
    [' https://service.example.com\n', 'https://service.example.com/api/orders.json'],
    ['https://service.example.com:8443/a/b//', 'https://service.example.com:8443/a/b/api/orders.json'],
    ['http://localhost:4000', 'http://localhost:4000/api/orders.json'],
    ['http://127.1.2.3', 'http://127.1.2.3/api/orders.json'],
    ['http://[::1]:80', 'http://[::1]/api/orders.json'],
  ])('%j is resolved to %s', (given, url) => {
    expect(prepare('orders.list', {}, { apiUrl: given }).url.href).toBe(url);
  });

  test.each([
    ['', 'is not set'],
    ['localhost:4000', 'must begin with https://'],
    ['https://user:hunter22@service.example.com', 'must not contain a user name'],
    ['https://service.example.com/?key=hunter22', 'must not have a query'],
    ['https://service.example.com/#hunter22', 'must not have a query or a fragment'],
    ['http://service.example.com', 'not encrypted'],
    ['http://127.0.0.1.example.com', 'not encrypted'],
  ])('%j is refused as a configuration error', (given, message) => {
    const error = thrown(() => prepare('orders.list', {}, { apiUrl: given }), ConfigError);
    expect(error.message).toContain(message);
    expect(error.hint).toBeTruthy();
    expect(`${error.message}${error.hint}`).not.toContain('hunter22');
  });
});

describe('path parameters', () => {
  test('are percent-encoded, and the path in messages has the prefix but not the query', () => {
    const request = prepare(
      'env.vars.update',
      { params: { envId: 'a/b c', varId: '50%?#é' }, body: {} },
      { apiUrl: 'https://h.example/base' },
    );
    expect(request.path).toBe('/base/api/environments/a%2Fb%20c/variables/50%25%3F%23%C3%A9');
    expect(prepare('env.list', { query: { page: 2 } }).path).toBe('/api/environments');
  });

  test.each([
    ['', 'must not be empty'],
    ['.', 'would change the path'],
    ['..', 'would change the path'],
    ['a\nb', 'control characters'],
    ['a\u0085', 'control characters'],
    ['\ud800', 'invalid Unicode'],
  ])('refuses %j with a hint', (runId, message) => {
    const error = refused('run.status', { params: { runId } });
    expect(error.message).toMatch(/^run\.status: runId /);
    expect(error.message).toContain(message);
    expect(error.hint).toBe('copy runId exactly as the service shows it');
  });

  test('refuses a reserved value, which would call another endpoint', () => {
    expect(refused('orders.get', { params: { id: 'summary' } }).message).toContain(
      'belongs to another endpoint',
    );
    expect(prepare('orders.get', { params: { id: 'summary2' } }).path).toBe('/api/orders/summary2.json');
    const search = { projectId: 'p', observationId: 'search' };
    expect(refused('observations.get', { params: search }).message).toContain('"search"');
    expect(
      prepare('observations.get', { params: { projectId: 'search', observationId: 'o' } }).path,
    ).toBeTruthy();
  });

  test('any text becomes one segment or is refused', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (runId) => {
        try {
          expect(prepare('run.status', { params: { runId } }).url.pathname.split('/')).toHaveLength(5);
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
        }
      }),
    );
  });
});

describe('the query', () => {
  test('refuses an unknown key and names the known ones', () => {
    const error = refused('env.list', { query: { pag: 1 } });
    expect(error.message).toBe('env.list: query key pag is unknown');
    expect(error.hint).toBe('the known names are page, pageSize');
  });

  test('refuses a value of the wrong type, naming key, expected type and value', () => {
    expect(refused('env.list', { query: { page: 0 } }).message).toBe(
      'env.list: query key page must be a number of at least 1, not 0',
    );
    expect(refused('env.list', { query: { page: '2' } }).message).toContain('must be a number, not "2"');
    const when = refused('observations.list', {
      params: { projectId: 'p' },
      query: { createdAfter: 'yesterday' },
    });
    expect(when.message).toContain(
      'createdAfter must be a date, or a date and time with a zone, not "yesterday"',
    );
    expect(when.hint).toBe(
      'write 2026-01-31 for its midnight in UTC, or 2026-01-31T14:00:00+02:00 as in RFC 3339',
    );
    expect(
      refused('observations.search', { params: { projectId: 'p' }, query: { a: {} } }).message,
    ).toContain('query key a must');
  });

  test('writes a date and time as RFC 3339 and leaves other values unchanged', () => {
    const query = { status: 'open', createdAfter: '2026-05-01 00:00+0200', page: 2 };
    const { url } = prepare('observations.list', { params: { projectId: 'p' }, query });
    expect([...url.searchParams]).toEqual([
      ['status', 'open'],
      ['createdAfter', '2026-05-01T00:00:00+02:00'],
      ['page', '2'],
    ]);
  });

  test('round-trips any values', () => {
    const text = fc.string({ unit: 'binary' }).filter((value) => !/\p{Surrogate}/u.test(value));
    fc.assert(
      fc.property(fc.dictionary(text, fc.oneof(text, fc.array(text, { minLength: 1 }))), (query) => {
        const given = { ...query };
        delete given.q;
        const { url } = prepare('observations.search', { params: { projectId: 'p' }, query: given });
        for (const [key, value] of Object.entries(given)) {
          expect(url.searchParams.getAll(key)).toEqual(Array.isArray(value) ? value : [value]);
        }
        expect([...new Set(url.searchParams.keys())].sort()).toEqual(Object.keys(given).sort());
      }),
    );
  });
});

describe('the body', () => {
  test('is JSON, without undefined fields', () => {
    const request = prepare('run.trigger', { body: { ...selected, ref: undefined } });
    expect(request.body).toBe('{"projectSlug":"shop","processSlug":"checkout"}');
    expect(request.headers['content-type']).toBe('application/json');
  });

  test.each<[EndpointName, unknown, string]>([
    ['run.trigger', undefined, 'the body is missing (an object)'],
    ['run.trigger', {}, 'field projectSlug is missing (a string)'],
    ['run.trigger', { projectSlug: 'p' }, 'one of processSlug and tags is required'],
    ['run.trigger', { ...selected, tags: ['a'] }, 'cannot be combined: give exactly one of them'],
    [
      'run.trigger',
      { projectSlug: 'p', tags: ['a', ''] },
      'field tags[1] must be a non-empty string, not an empty string',
    ],
    ['run.trigger', { ...selected, brnch: 'x' }, 'field brnch is unknown'],
  ])('is checked for %s before sending: %j', (name, body, message) => {
    expect(refused(name, { body }).message).toContain(message);
  });

  test.each<[EndpointName, unknown]>([
    ['env.create', { baseUrl: 7, mobileRuntimeOverrides: { udid: 1 } }],
    ['env.update', { id: 'e1', version: 3, key: 7, mobileRuntimeOverrides: 'none' }],
  ])('for %s accepts a field of another type, as a response may contain it: %j', (name, body) => {
    const params = name === 'env.update' ? { id: 'e1' } : {};
    expect(prepare(name, { params, body }).body).toBe(JSON.stringify(body));
  });
});

describe('credentials', () => {
  const bearer = { authorization: 'Bearer token-456' };
  const key = { 'x-api-key': 'key-123' };

  test.each<[EndpointName, Target, object]>([
    ['env.list', {}, bearer],
    ['keys.delete', {}, bearer],
    ['run.status', {}, key],
    ['run.status', { token: undefined }, key],
    ['orders.list', {}, bearer],
    ['orders.list', { token: undefined }, key],
    ['orders.list', { apiKey: undefined }, bearer],
    ['orders.list', { auth: 'key' }, key],
    ['orders.list', { auth: 'bearer' }, bearer],
    // `auth` applies only to endpoints that take either credential.
    ['run.status', { auth: 'bearer' }, key],
    ['env.list', { auth: 'key' }, bearer],
  ])('%s with %j sends %j', (name, target, expected) => {
    const ids = { 'run.status': { runId: 'r' }, 'keys.delete': { id: 'k' } };
    const params = name in ids ? ids[name as keyof typeof ids] : {};
    const { headers } = prepare(name, { params: params as Record<string, string> }, target);
    const sent = Object.fromEntries(
      Object.entries(headers).filter(([h]) => h === 'authorization' || h === 'x-api-key'),
    );
    expect(sent).toEqual(expected);
  });

  const none = { apiKey: undefined, token: undefined };

  test.each<[EndpointName, Target, RegExp]>([
    ['keys.create', { token: undefined }, /an API key cannot manage API keys.*RUNGATE_TOKEN/],
    ['env.overview', { token: undefined }, /needs a bearer token, but only an API key is set.*RUNGATE_TOKEN/],
    ['env.overview', { token: '', apiKey: '' }, /needs a bearer token, but none is set.*RUNGATE_TOKEN/],
    [
      'run.trigger',
      { apiKey: undefined },
      /needs an API key, but only a bearer token is set.*RUNGATE_API_KEY/,
    ],
    ['orders.list', none, /needs a credential.*RUNGATE_TOKEN or RUNGATE_API_KEY/],
    ['orders.list', { apiKey: undefined, auth: 'key' }, /needs an API key.*RUNGATE_API_KEY/],
  ])('%s with %j is refused: the credential is missing', (name, target, text) => {
    const body = name === 'keys.create' ? { name: 'n' } : name === 'run.trigger' ? selected : undefined;
    const { message, hint } = thrown(() => prepare(name, body ? { body } : {}, target), CredentialError);
    expect(`${message} ${hint}`).toMatch(text);
  });

  const unsendable = ['hunter22\r\nx-evil: 1', 'hunter22\n', 'hunter22\u0000', 'Bearer hunter22'];

  test.each(unsendable)('refuses a value that is not valid in a header, without echoing it: %j', (secret) => {
    const errors: RungateError[] = [
      thrown(() => prepare('orders.list', {}, { token: secret }), ConfigError),
      thrown(() => prepare('run.status', { params: { runId: 'r' } }, { apiKey: secret }), ConfigError),
      refused('run.trigger', { body: selected, idempotencyKey: secret }),
      thrown(() => prepare('orders.list', {}, { userAgent: `${secret}\n` }), UsageError),
    ];
    for (const error of errors)
      expect(`${error.message} ${error.hint} ${error.stack}`).not.toContain('hunter22');
  });
});

describe('headers', () => {
  test('name the accepted media type and the user agent', () => {
    const { headers } = prepare('orders.list');
    expect(headers).toEqual({
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'rungate',
      authorization: 'Bearer token-456',
    });
    expect(prepare('orders.list', {}, { userAgent: 'rungate/1.2' }).headers['user-agent']).toBe(
      'rungate/1.2',
    );
  });

  test('carry an idempotency key of 1 to 255 visible characters', () => {
    const withKey = (idempotencyKey: string) => prepare('run.trigger', { body: selected, idempotencyKey });
    expect(withKey('k'.repeat(255)).headers['idempotency-key']).toHaveLength(255);
    expect(() => withKey('k'.repeat(256))).toThrow(UsageError);
    expect(() => withKey('')).toThrow(UsageError);
    expect(refused('env.create', { body: {}, idempotencyKey: 'k' }).message).toContain(
      'takes no idempotency key',
    );
  });
});

test.each<[EndpointName, Partial<RequestInput>, boolean]>([
  ['orders.list', {}, true],
  ['env.update', { params: { id: 'e' }, body: {} }, true],
  ['env.delete', { params: { id: 'e' } }, true],
  ['run.cancel', { params: { runId: 'r' } }, true],
  ['run.trigger', { body: selected, idempotencyKey: 'k' }, true],
  ['run.trigger', { body: selected }, false],
  ['env.create', { body: {} }, false],
])('%s with %j is repeatable: %j', (name, input, repeatable) => {
  expect(prepare(name, input).repeatable).toBe(repeatable);
});
