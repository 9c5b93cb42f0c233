import { describe, expect, it } from 'vitest';
import { isOwn, previewName } from '../../src/preview/mark.ts';

const environment = (baseUrl: string | undefined, more = {}) => ({
  ...{ id: 'env_1', key: 'rg-0123456789ab', name: previewName(0, 'pr-7.example'), baseUrl },
  ...{ fields: new Map<string, string>(), ...more },
});

describe('an environment is the one of a deployment', () => {
  it.each([
    ['https://pr-7.example', 'https://pr-7.example/'],
    ['https://PR-7.Example', 'https://pr-7.example'],
    ['HTTPS://pr-7.example:443/', 'https://pr-7.example'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['https://pr-7.example/app/', 'https://pr-7.example/app'],
    ['https://pr-7.example/?key=1', 'https://pr-7.example?key=1#top'],
    [' https://pr-7.example ', 'https://pr-7.example'],
  ])('if the service shows %s for %s', (shown, given) => {
    expect(isOwn(environment(shown), new URL(given).href)).toBe(true);
  });

  it.each([
    undefined,
    '',
    'pr-7.example',
    '/',
    '********',
    'http://pr-7.example',
    'https://pr-7.example:8443',
    'https://pr-8.example',
    'https://pr-7.example.evil.example',
    'https://pr-7.example/app',
    'https://pr-7.example//',
    'https://pr-7.example?key=1',
  ])('but not if the service shows %s for https://pr-7.example', (shown) => {
    expect(isOwn(environment(shown), 'https://pr-7.example/')).toBe(false);
  });

  it.each([{ key: 'staging' }, { name: 'Staging' }, { key: undefined }, { name: undefined }])(
    'only with a key and a name that rungate gives: %j',
    (change) => {
      expect(isOwn(environment('https://pr-7.example', change), 'https://pr-7.example/')).toBe(false);
    },
  );
});
