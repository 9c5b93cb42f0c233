import { describe, expect, it } from 'vitest';
import { isInherited, type Streams } from '../../src/host/log.ts';

const streams = (out: string, err: string): Streams => ({ out, err });
const job = streams('log', 'messages');
const agent = streams('agent', 'agent');

describe('standard output goes where that of the calling script goes', () => {
  it.each<[string, Streams, (Streams | null)[], boolean]>([
    ['a step', job, [job, agent], true],
    ['a step whose shell is the first process', job, [job], true],
    ['a script of a step', job, [job, job, agent], true],
    ['a step with one file for both', streams('log', 'log'), [streams('log', 'log'), agent], true],
    ['a step of an agent of another user', job, [job, null], true],
    ['a pipe', streams('pipe', 'messages'), [job, agent], false],
    [
      'a command in parentheses before a pipe',
      streams('pipe', 'messages'),
      [streams('pipe', 'messages'), job],
      false,
    ],
    ['a pipe for both', streams('pipe', 'pipe'), [job, agent], false],
    ['an agent that reads the output itself', job, [agent], false],
    ['an unknown parent', job, [null, job], false],
    ['no parent', job, [], false],
  ])('in %s: %#', (_name, own, above, expected) => expect(isInherited(own, above)).toBe(expected));
});
