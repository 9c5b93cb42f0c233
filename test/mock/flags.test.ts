import { describe, expect, it } from 'vitest';
import { mockOptions } from '../../src/commands/mock/commands.ts';
import { memoryIo } from '../cli/harness.ts';

describe('the options of the mock commands', () => {
  const { io } = memoryIo();

  it('default to no rate limits and to deliveries to this machine only', () => {
    const defaults = { port: 1, clock: io.clock, deliveries: 'loopback', tenantSecret: undefined };
    expect(mockOptions({ seed: '7' }, 1, io)).toEqual({ ...defaults, seed: 7 });
    const credentials = { apiKey: expect.stringMatching(/^rg_/), token: expect.stringMatching(/^ey/) };
    expect(mockOptions({}, 1, io)).toEqual({ ...defaults, ...credentials });
    expect(mockOptions({ rateLimit: 'documented' }, 1, io).rateLimit).toBe('documented');
    expect(mockOptions({ rateLimit: 'off' }, 1, io).rateLimit).toBe('off');
    expect(() => mockOptions({ rateLimit: 'on' }, 1, io)).toThrow('--rate-limit');
    expect(mockOptions({ deliver: 'any' }, 1, io).deliveries).toBe('any');
    expect(() => mockOptions({ deliver: 'everywhere' }, 1, io)).toThrow('--deliver');
  });

  it('parse faults and reject unknown ones', () => {
    const faults = [{ kind: 'reset', endpoint: 'run.status', skip: 1, times: 1 }, { kind: 'huge' }];
    expect(mockOptions({ fault: ['reset@run.status:2', 'huge'] }, 1, io).faults).toEqual(faults);
    expect(() => mockOptions({ fault: ['hugge'] }, 1, io)).toThrow('unknown fault "hugge"');
  });

  it('take the tenant secret from the environment', () => {
    const { io: set } = memoryIo({ env: { RUNGATE_TENANT_SECRET: 't0p' } });
    expect(mockOptions({}, 1, set).tenantSecret).toBe('t0p');
  });
});
