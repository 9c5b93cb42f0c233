import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/errors.ts';
import { redactSecrets } from '../../src/redact.ts';
import { proxyAuthorization, proxyFor, proxySecrets, showProxy } from '../../src/transport/proxy.ts';
import { thrown } from '../client/rejection.ts';

const proxyOrigin = (target: string, env: Record<string, string | undefined>) =>
  proxyFor(new URL(target), env)?.origin ?? null;

describe('proxyFor', () => {
  const https = 'https://api.example.com/';
  test.each<[string, Record<string, string | undefined>, string | null]>([
    [https, {}, null],
    [https, { https_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:2' }, 'http://a:1'],
    [https, { https_proxy: '  ', HTTPS_PROXY: ' http://b:2\n' }, 'http://b:2'],
    [https, { HTTPS_PROXY: 'a:3128' }, 'http://a:3128'],
    [https, { HTTPS_PROXY: 'user:p@a:3128' }, 'http://a:3128'],
    [https, { HTTPS_PROXY: 'https://a:443' }, 'https://a'],
    [https, { HTTP_PROXY: 'http://a:1' }, null],
    ['http://api.example.com/', { http_proxy: '', HTTP_PROXY: 'http://a:1' }, 'http://a:1'],
    ['http://api.example.com/', { HTTPS_PROXY: 'http://a:1' }, null],
    [https, { HTTPS_PROXY: 'http://a:1', no_proxy: '', NO_PROXY: 'example.com' }, null],
  ])('for %s with %j returns %s', (target, env, expected) => expect(proxyOrigin(target, env)).toBe(expected));

  test.each(['http://', 'socks5://a:1', 'http://u:100%@a:1', 'ftp://u:s3cret@a'])(
    'throws a configuration error for the unusable address %s without showing it',
    (value) => {
      const error = thrown(() => proxyOrigin(https, { HTTPS_PROXY: value }), ConfigError);
      expect(error.message).toContain('HTTPS_PROXY');
      expect(`${error.message} ${error.hint}`).not.toContain('s3cret');
    },
  );

  test.each(['/', '\\', '?', '#'])(
    'refuses a password with a %s as it is, and shows no part of it',
    (mark) => {
      // A URL parser takes the text between the first @ and the mark for the host.
      for (const value of [`http://user:p@secret${mark}w@proxy.test:3128`, `us${mark}er:secret@proxy.test`]) {
        const { message, hint } = thrown(() => proxyOrigin(https, { HTTPS_PROXY: value }), ConfigError);
        expect(message).toBe('HTTPS_PROXY contains a user name or password that is not percent-encoded');
        expect(hint).not.toContain('secret');
      }
    },
  );

  test('ignores an unusable address when no proxy is needed', () => {
    expect(proxyOrigin('http://127.0.0.1/', { HTTP_PROXY: 'http://' })).toBeNull();
  });
});

describe('NO_PROXY', () => {
  test.each<[string, string, boolean]>([
    ['https://api.example.com', 'API.Example.COM', false],
    ['https://api.example.com.', 'api.example.com', false],
    ['https://api.example.com', 'example.com', false],
    ['https://api.example.com', '*.example.com', false],
    ['https://example.com', '.example.com', false],
    ['https://badexample.com', 'example.com', true],
    ['https://example.com.evil.test', 'example.com', true],
    ['https://api.example.com', 'other.test, * ', false],
    ['https://api.example.com', 'a.test b.test\texample.com', false],
    ['https://api.example.com', '.', true],
    ['https://api.example.com:8443', 'example.com:8443', false],
    ['https://api.example.com:8443', 'example.com:443', true],
    ['https://api.example.com', 'example.com:443', false],
    ['https://api.example.com:8443', '*:8443', false],
    ['https://10.1.2.3', '10.0.0.0/8', false],
    ['https://11.1.2.3', '10.0.0.0/8', true],
    ['https://10.1.2.3', '2.3', true],
    ['https://10.1.2.3', '0.0.0.0/0', false],
    ['https://api.example.com', '0.0.0.0/0', true],
    ['https://[fd00::1]', 'fd00::/8', false],
    ['https://[fd00::1]', 'fd00:0:0::1', false],
    ['https://[fe80::1]', 'fd00::/8', true],
    ['https://localhost:8443', '', false],
    ['https://app.localhost', '', false],
    ['https://[::1]', '', false],
    ['https://127.0.0.1.example.com', '', true],
  ])('for %s with the exceptions %j uses a proxy: %s', (target, exceptions, proxied) => {
    const env = { HTTPS_PROXY: 'http://proxy.test:3128', NO_PROXY: exceptions };
    expect(proxyOrigin(target, env) !== null).toBe(proxied);
  });
});

describe('quotes around a variable, as from an .env file,', () => {
  const address = 'http://user:s3cret-word@proxy.test:3128';

  test.each([
    ['HTTPS_PROXY', { HTTPS_PROXY: `"${address}"` }],
    ['HTTPS_PROXY', { HTTPS_PROXY: `“${address}”` }],
    ['NO_PROXY', { HTTPS_PROXY: address, NO_PROXY: '".internal.example.com,10.0.0.0/8"' }],
  ])('are an error that names %s', (name, env) => {
    const target = new URL('https://service.example.com');
    const error = thrown(() => proxyFor(target, env), ConfigError);
    expect(error.message).toBe(`the value of ${name} is in quotes`);
    expect(proxyFor(new URL('https://localhost'), env)).toBeNull();
    expect(redactSecrets('s3cret-word', proxySecrets(env))).toBe('***');
  });
});

describe('proxyFor with any environment', () => {
  const anything = fc.option(fc.string({ unit: 'binary', maxLength: 30 }), { nil: undefined });
  const env = fc.record({
    https_proxy: anything,
    HTTPS_PROXY: anything,
    no_proxy: anything,
    NO_PROXY: fc.string({ unit: fc.constantFrom(...'*.:,[]/0123456789abcdef% '), maxLength: 30 }),
  });

  test('returns an HTTP proxy or null, or throws a configuration error, and never uses a proxy for this machine', () => {
    const targets = [
      'https://api.example.com',
      'https://[fd00::1]:8443',
      'https://10.0.0.1',
      'https://[::1]',
    ];
    fc.assert(
      fc.property(env, fc.constantFrom(...targets), (variables, target) => {
        try {
          const proxy = proxyFor(new URL(target), variables);
          if (target.includes('[::1]')) expect(proxy).toBeNull();
          if (proxy !== null) {
            expect(proxy.protocol).toMatch(/^https?:$/);
            proxyAuthorization(proxy);
          }
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('never uses a proxy for a host that NO_PROXY lists by name or address, with or without its port', () => {
    const hosts = fc.oneof(
      fc.domain(),
      fc.ipV4(),
      fc.ipV6().map((address) => `[${address}]`),
    );
    fc.assert(
      fc.property(hosts, fc.integer({ min: 1, max: 65535 }), fc.boolean(), (host, port, withPort) => {
        const text = `https://${host}:${port}`;
        fc.pre(URL.canParse(text));
        const url = new URL(text);
        const NO_PROXY = `other.invalid,${withPort ? `${url.hostname}:${port}` : url.hostname}`;
        expect(proxyFor(url, { HTTPS_PROXY: 'http://p:1', NO_PROXY })).toBeNull();
      }),
    );
  });
});

describe('the credentials of a proxy', () => {
  test.each([
    ['http://user:p%40ss@proxy:3128', 'user:p@ss'],
    ['http://user@proxy', 'user:'],
    ['http://us%3Aer:a%20b@proxy', 'us:er:a b'],
  ])('in %s are sent percent-decoded', (address, pair) => {
    expect(proxyAuthorization(new URL(address))).toBe(`Basic ${Buffer.from(pair).toString('base64')}`);
  });

  test.each([
    ['http://user:p%40ss@proxy:3128', 'http://***@proxy:3128'],
    ['http://user:pa/s@s@proxy', 'http://***@proxy'],
    [' http://proxy:3128 ', 'http://proxy:3128'],
  ])('in %s are replaced for display', (text, expected) => expect(showProxy(text)).toBe(expected));

  test('are known in every form in which they could appear', () => {
    const found = proxySecrets({ HTTPS_PROXY: 'http://user:p%40ssword@proxy:3128', http_proxy: 'u:other@p' });
    expect(found).toEqual(
      expect.arrayContaining([
        'p%40ssword',
        'p@ssword',
        'user:p@ssword',
        Buffer.from('user:p@ssword').toString('base64'),
        'other',
      ]),
    );
    expect(proxySecrets({ HTTPS_PROXY: 'http://proxy:3128' })).toEqual([]);
  });
});
