import { describe, expect, it } from 'vitest';
import { mockOptions } from '../../src/commands/mock/flags.ts';
import { memoryIo } from '../cli/harness.ts';

describe('the flags of the mock', () => {
  const { io } = memoryIo();

  it('have the limits off, and deliveries to this machine only, unless they are asked for otherwise', () => {
    const usual = { port: 1, clock: io.clock, deliveries: 'loopback', tenantSecret: undefined };
    expect(mockOptions({ seed: '7' }, 1, io)).toEqual({ ...usual, seed: 7 });
    const credentials = { apiKey: expect.stringMatching(/^rg_/), token: expect.stringMatching(/^ey/) };
    expect(mockOptions({}, 1, io)).toEqual({ ...usual, ...credentials });
    expect(mockOptions({ rateLimit: 'documented' }, 1, io).rateLimit).toBe('documented');
    expect(mockOptions({ rateLimit: 'off' }, 1, io).rateLimit).toBe('off');
    expect(() => mockOptions({ rateLimit: 'on' }, 1, io)).toThrow('--rate-limit');
    expect(mockOptions({ deliver: 'any' }, 1, io).deliveries).toBe('any');
    expect(() => mockOptions({ deliver: 'everywhere' }, 1, io)).toThrow('--deliver');
  });

  it('say what goes wrong, for both commands of the mock', () => {
    const faults = [{ kind: 'reset', endpoint: 'run.status', skip: 1, times: 1 }, { kind: 'huge' }];
    expect(mockOptions({ fault: ['reset@run.status:2', 'huge'] }, 1, io).faults).toEqual(faults);
    expect(() => mockOptions({ fault: ['hugge'] }, 1, io)).toThrow('there is no fault "hugge"');
  });

  it('sign with the tenant secret of the environment', () => {
    const { io: set } = memoryIo({ env: { RUNGATE_TENANT_SECRET: 't0p' } });
    expect(mockOptions({}, 1, set).tenantSecret).toBe('t0p');
  });
});
