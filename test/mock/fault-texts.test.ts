import { describe, expect, it } from 'vitest';
import { faultNames } from '../../src/mock/faults/parse.ts';
import { cli } from '../cli/harness.ts';

describe('the texts of the faults', () => {
  it.each(['serve', 'exec'])('are in the help of mock %s, one line of 80 columns each', async (name) => {
    const { out } = await cli(['mock', name, '--help']);
    const lines = out.split('\n');
    for (const kind of faultNames) {
      const line = lines.filter((one) => new RegExp(`^  ${kind}(\\[=duration\\])?  `).test(one));
      expect(line, kind).toHaveLength(1);
    }
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });
});
