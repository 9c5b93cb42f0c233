import { expect, it } from 'vitest';
import { parseUrl } from '../src/parse-url.ts';

it('parses a URL with non-ASCII characters, however often it is called', () => {
  const addresses = Array.from({ length: 20_000 }, () => parseUrl('HTTPS://münchen.example/ü')?.href);
  expect(new Set(addresses)).toEqual(new Set(['https://xn--mnchen-3ya.example/%C3%BC']));
});

it.each([['text'], ['//a.example'], [''], ['http://']])('returns null for %j, which is not a URL', (text) => {
  expect(parseUrl(text)).toBeNull();
});
