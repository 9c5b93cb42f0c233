import { describe, expect, it } from 'vitest';
import { exceptForks, pipelineOf } from '../../src/ci/pipelines.ts';
import { skippedGates } from '../../src/ci/skipped-gate.ts';
import { planned } from './planned.ts';

const gate = 'npx --yes rungate@0.1.0 gate';
const workflow = (job: string, on = '[push, pull_request]') =>
  `name: e2e\non: ${on}\njobs:\n  build:\n    if: github.ref == 'refs/heads/main'\n    steps:\n      - run: make\n  e2e:\n${job}`;
const job = (condition: string) =>
  `    runs-on: ubuntu-latest\n    if: ${condition}\n    steps:\n      - run: ${gate}\n`;
const found = (text: string) => skippedGates(text).map(({ job, condition }) => `${job}: ${condition}`);

describe('a condition that can skip the gate is found', () => {
  it.each<[string, string, string]>([
    ['for forks, as init wrote it', job(exceptForks), exceptForks],
    [
      'over several lines',
      job(">-\n      github.actor != 'x' &&\n      always()"),
      "github.actor != 'x' && always()",
    ],
    [
      'of the step',
      `    steps:\n      - uses: actions/checkout@v7\n        if: always()\n      - if: github.actor == 'x'\n        run: |\n          # the gate\n          ${gate}\n`,
      "github.actor == 'x'",
    ],
    [
      'of the action, in a list without indentation',
      "    steps:\n    - uses: acme/rungate@v1\n      with: { gates: web }\n      if: 'github.actor'\n",
      'github.actor',
    ],
    ['on Windows', job('x').replaceAll('\n', '\r\n'), 'x'],
  ])('%s', (_what, text, condition) => expect(found(workflow(text))).toEqual([`e2e: ${condition}`]));
});

describe('no condition is found', () => {
  it.each<[string, string, string?]>([
    ['without one', job('x').replace('    if: x\n', '')],
    ['that never skips', job('$' + '{{ !cancelled() }}')],
    [
      'in a job that only uploads the report',
      `    if: failure()\n    steps:\n      - run: cat rungate.xml\n`,
    ],
    ['of another step', `    steps:\n      - run: ${gate}\n      - if: failure()\n        run: echo\n`],
    ['if pull requests do not start it', job('x'), 'push'],
  ])('%s', (_what, text, on) => expect(found(workflow(text, on))).toEqual([]));

  it.each(['', 'jobs:', '[]', 'jobs:\n  e2e:\non: pull_request', '\u0000'])('in %j', (text) =>
    expect(found(text)).toEqual([]),
  );
});

describe('pull requests from forks are left to the merge queue', () => {
  const queued = pipelineOf('github')?.text({ ...planned, mergeQueue: true }) ?? '';
  const left = (text: string) => skippedGates(text).map(({ leftToQueue }) => leftToQueue);

  it('by the workflow of init --merge-queue', () => expect(left(queued)).toEqual([true]));
  it('not by that of init without it, which skips nothing', () =>
    expect(left(pipelineOf('github')?.text(planned) ?? '')).toEqual([]));
  it.each([
    ['that does not start in the queue', queued.replace('  merge_group:\n', '')],
    ['that skips the job in the queue too', queued.replace("github.event_name != 'pull_request' || ", '')],
  ])('not by one %s', (_what, text) => {
    expect(text).not.toBe(queued);
    expect(left(text)).toEqual([false]);
  });
});
