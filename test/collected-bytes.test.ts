import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CollectedBytes } from '../src/collected-bytes.ts';

const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 40 });

describe('collected bytes', () => {
  test('are the bytes of the chunks in order, whatever number the sender announces', () => {
    fc.assert(
      fc.property(chunks, fc.oneof(fc.integer(), fc.double()), (parts, expected) => {
        const all = Buffer.concat(parts);
        const body = new CollectedBytes(Math.max(1, all.length), expected);
        expect(parts.every((part) => body.add(part))).toBe(true);
        expect(body.length).toBe(all.length);
        expect(Buffer.from(body.bytes())).toEqual(all);
      }),
    );
  });

  test('never exceed the maximum, and a chunk that would exceed it changes nothing', () => {
    fc.assert(
      fc.property(chunks, fc.nat({ max: 200 }), (parts, most) => {
        const body = new CollectedBytes(most, 1e9);
        const taken = Buffer.concat(parts.filter((part) => body.add(part)));
        expect(taken.length).toBeLessThanOrEqual(most);
        expect(Buffer.from(body.bytes())).toEqual(taken);
      }),
    );
  });

  test('never take more memory than the maximum', () => {
    const body = new CollectedBytes(1_000_000);
    const byte = new Uint8Array(1);
    for (let count = 0; count < 1_000_000; count += 1) body.add(byte);
    expect(body.bytes().buffer.byteLength).toBe(1_000_000);
    expect(body.add(byte)).toBe(false);
  });
});
