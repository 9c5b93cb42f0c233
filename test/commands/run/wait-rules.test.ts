import { describe, expect, it } from 'vitest';
import { rulesOf } from '../../../src/commands/run/plan.ts';
import { defaultSettings, mergeSettings } from '../../../src/settings/merge.ts';
import type { SettingValues } from '../../../src/settings/names.ts';

const fromFlags = (values: Partial<SettingValues>) =>
  rulesOf(mergeSettings([defaultSettings, { origin: 'flag', values }]));

describe('the limits of a wait', () => {
  it('are an interval of 10 s, 60 reads and 60 minutes by default', () => {
    expect(fromFlags({})).toMatchObject({ intervalMs: 10_000, maxAttempts: 60, timeoutMs: 3_600_000 });
  });

  it('do not include the 60 reads with an explicit timeout', () => {
    expect(fromFlags({ timeout: 7_200_000 })).toMatchObject({
      maxAttempts: Number.POSITIVE_INFINITY,
      timeoutMs: 7_200_000,
    });
  });

  it('include an explicit number of reads with an explicit timeout', () => {
    expect(fromFlags({ timeout: 7_200_000, maxAttempts: 5 })).toMatchObject({ maxAttempts: 5 });
  });

  it('include the hour with an explicit number of reads', () => {
    expect(fromFlags({ maxAttempts: 500 })).toMatchObject({ maxAttempts: 500, timeoutMs: 3_600_000 });
  });

  it('come with the policy', () => {
    expect(fromFlags({ strict: true }).policy.cancelled).toBe('fail');
    expect(fromFlags({ strict: true, on: { cancelled: 'warn' } }).policy.cancelled).toBe('warn');
  });
});
