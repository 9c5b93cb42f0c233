import { describe, expect, it } from 'vitest';
import { parseRedisUrl } from '../../src/hub/redis-address.ts';

const server = { tls: false, database: 0, credentials: {}, sentinel: null };

describe('a URL of Redis', () => {
  it.each([
    ['redis://host', { ...server, servers: [{ host: 'host', port: 6379 }] }],
    [
      'rediss://[::1]:6380/3\n',
      { ...server, tls: true, database: 3, servers: [{ host: '::1', port: 6380 }] },
    ],
    [
      'redis://user:p%40ss@host/',
      {
        ...server,
        credentials: { username: 'user', password: 'p@ss' },
        servers: [{ host: 'host', port: 6379 }],
      },
    ],
    [
      'redis-sentinel://s1,s2:5000,[::2]/1#main',
      {
        ...server,
        database: 1,
        servers: [
          { host: 's1', port: 26379 },
          { host: 's2', port: 5000 },
          { host: '::2', port: 26379 },
        ],
        sentinel: { master: 'main', credentials: {} },
      },
    ],
    [
      'rediss-sentinel://:secret@s1?sentinelMasterId=main&sentinelUsername=ask&sentinelPassword=a+b==%26',
      {
        ...server,
        tls: true,
        credentials: { password: 'secret' },
        servers: [{ host: 's1', port: 26379 }],
        sentinel: { master: 'main', credentials: { username: 'ask', password: 'a+b==&' } },
      },
    ],
  ])('may be %s', (text, address) => {
    expect(parseRedisUrl(text)).toEqual(address);
  });

  it.each([
    '',
    'localhost',
    'http://host',
    'redis://',
    'redis://host/one',
    'redis://one,other',
    'redis://host?x=1',
    'redis://host#main',
    'redis-cluster://host',
    'redis-sentinel://host',
    'redis-sentinel://one,,other#main',
    'redis-sentinel://one:x#main',
    'redis-sentinel://host?timeout=1s#main',
  ])('is not %j', (text) => {
    expect(parseRedisUrl(text)).toBeNull();
  });
});
