import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isExpected } from '../src/subject.ts';

const commit = '3c1d9a7f0b2e4c6a8d1f3b5e7a9c0d2e4f6a8b1c';
const digest = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';

describe('the expected version', () => {
  it.each([
    ['the same commit', commit, commit],
    ['the whole commit, if an abbreviation is expected', commit, commit.slice(0, 7)],
    ['a shorter abbreviation of an abbreviated commit', commit.slice(0, 7), commit.slice(0, 8)],
    ['a commit in capital letters', commit.toUpperCase(), commit],
    ['any other text', 'v1.2.3+build 7', 'v1.2.3+build 7'],
    ['the digest of an image', `sha256:${digest}`, `sha256:${digest}`],
    ['the digest without its algorithm', digest, `sha256:${digest}`],
    ['the digest behind the name of the image', `ghcr.io/a/shop:1.2@sha256:${digest}`, `sha256:${digest}`],
    ['the digest of 12 digits, as Docker shows it', digest.slice(0, 12), `sha256:${digest}`],
  ])('is %s', (_what, text, expected) => {
    expect(isExpected(text, expected)).toBe(true);
  });

  it.each([
    ['another commit', `${commit.slice(0, 39)}d`, commit],
    ['the end of the commit', commit.slice(-7), commit],
    ['an abbreviation of 6 digits', commit.slice(0, 6), commit],
    ['a longer build number', '20261122', '2026112'],
    ['the same text in another case', 'V1', 'v1'],
    ['a commit with a prefix', `sha-${commit}`, commit],
    ['an abbreviation and more', `${commit.slice(0, 7)}-dirty`, commit],
    ['another digest', `sha256:${digest.slice(1)}0`, `sha256:${digest}`],
    ['the digest of another algorithm', `sha512:${digest}`, `sha256:${digest}`],
    ['the digest and more', `sha256:${digest}-dirty`, `sha256:${digest}`],
    ['two digests', `a@sha256:${digest} b@sha256:${digest}`, `sha256:${digest}`],
    ['the commit as the digest of an image', `sha256:${commit}`, commit],
    ['the digest of an image that begins with the commit', `${commit}${digest.slice(40)}`, commit],
  ])('is not %s', (_what, text, expected) => {
    expect(isExpected(text, expected)).toBe(false);
  });

  it('is never another whole commit or digest', () => {
    const digits = (count: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${count}}$`));
    const written = (hash: string) =>
      fc.constantFrom(
        hash,
        hash.toUpperCase(),
        ...(hash.length === 64 ? [`sha256:${hash}`, `a@sha256:${hash}`] : []),
      );
    const pairs = fc
      .tuple(digits(64), fc.constantFrom(40, 64), fc.constantFrom(40, 64), fc.nat(63), fc.boolean())
      .chain(([hash, one, other, at, differs]) => {
        const changed = `${hash.slice(0, at)}${hash[at] === '0' ? '1' : '0'}${hash.slice(at + 1)}`;
        const hashes = [hash.slice(0, one), (differs ? changed : hash).slice(0, other)] as const;
        return fc.tuple(fc.constant(hashes), written(hashes[0]), written(hashes[1]));
      });
    fc.assert(
      fc.property(pairs, ([[one, other], text, expected]) => {
        expect(isExpected(text, expected)).toBe(one === other);
        expect(isExpected(expected, text)).toBe(one === other);
      }),
    );
  });

  it('does not depend on which of the two is abbreviated', () => {
    const digits = fc.stringMatching(/^[0-9a-f]{5,64}$/);
    fc.assert(
      fc.property(digits, digits, fc.nat(64), (a, b, cut) => {
        for (const [one, other] of [
          [a, b],
          [a, a.slice(0, cut)],
        ] as const)
          expect(isExpected(one, other)).toBe(isExpected(other, one));
      }),
    );
  });
});
