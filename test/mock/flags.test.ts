import { describe, expect, it } from 'vitest';
import { mockOptions } from '../../src/commands/mock-flags.ts';

describe('the flags of the mock', () => {
  it('have the limits off unless they are asked for', () => {
    expect(mockOptions({}, 1)).toEqual({ port: 1 });
    expect(mockOptions({ rateLimit: 'documented' }, 1).rateLimit).toBe('documented');
    expect(mockOptions({ rateLimit: 'off' }, 1).rateLimit).toBe('off');
    expect(() => mockOptions({ rateLimit: 'on' }, 1)).toThrow('--rate-limit');
  });
});
