import { expect, it } from 'vitest';
import { createLog, type LoggedEvent } from '../../../src/commands/hub/log.ts';
import { createOutput } from '../../../src/output/output.ts';
import { redactor } from '../../../src/redact.ts';
import { memoryIo } from '../../cli/harness.ts';
import { read } from '../../docs/ci-job.ts';

async function logTo(format: 'plain' | 'ndjson') {
  const { io, printed } = memoryIo();
  const output = await createOutput(io, { format, quiet: false, verbose: false, secrets: [] });
  const log = createLog(output, () => 0, redactor(['hunter22']));
  return {
    ...log,
    lines: () => printed().out.replaceAll('1970-01-01T00:00:00.000Z ', '').split('\n').slice(0, -1),
  };
}

it.each(['plain', 'ndjson'] as const)('has one line for each event and no secret, as %s', async (format) => {
  const { log, lines } = await logTo(format);
  log({ type: 'redis-lost', error: new Error('ERR\n\u001b[31m hunter22 ::error::') });
  log({ type: 'wake', runId: 'run\n1' });
  log({ type: 'suppressed', of: 'fault hunter22', count: 1 });
  expect(lines()).toHaveLength(3);
  expect(lines().join('')).not.toMatch(/hunter|\u001b/);
});

it('writes each event as docs/reference/hub.md shows it', async () => {
  const { log, lines } = await logTo('plain');
  const id = '5d1c0a7be2f94863';
  const repository = 'acme/shop';
  const examples: { [Type in LoggedEvent['type']]: LoggedEvent & { type: Type } } = {
    listening: { type: 'listening', url: 'http://127.0.0.1:4020' },
    stream: { type: 'stream', runs: 1, open: 12 },
    grant: { type: 'grant', class: 'confirm', waitedMs: 1204, gate: 'web #4711', runId: 'run_1' },
    delivery: { type: 'delivery', ids: 3, replay: false, ageSeconds: 0.412 },
    wake: { type: 'wake', runId: 'run_1' },
    reported: { type: 'reported', reads: 2, creates: 0 },
    limited: { type: 'limited', retryAfterMs: 30_000 },
    'gate-kept': { type: 'gate-kept', id, repository, startsJobs: true },
    'gate-replaced': { type: 'gate-replaced', id: '0b6e9d24c7a1f385', by: id },
    'job-started': { type: 'job-started', id, repository },
    'start-failed': {
      type: 'start-failed',
      id,
      repository,
      error: new Error('GitHub responded with status code 401'),
    },
    'gate-done': { type: 'gate-done', id },
    'gate-forgotten': { type: 'gate-forgotten', id, repository },
    'refused-delivery': { type: 'refused-delivery', code: 'mismatch', status: 401 },
    'refused-request': { type: 'refused-request', status: 401, path: '/v1/grants' },
    'redis-lost': { type: 'redis-lost', error: new Error('connect ECONNREFUSED 10.0.0.7:6379') },
    'redis-back': { type: 'redis-back' },
    suppressed: { type: 'suppressed', of: 'refused-delivery mismatch', count: 95 },
    fault: { type: 'fault', error: new Error('write EPIPE') },
    stopping: { type: 'stopping', signal: 'SIGTERM' },
  };
  for (const event of Object.values(examples)) log(event);
  const [, shown = ''] = /```text\n(listening [^`]*)```/.exec(read('docs/reference/hub.md')) ?? [];
  expect(shown.split('\n').slice(0, -1)).toEqual(lines());
});

it('writes the texts of a gate on one line, shortened, and leaves out what it did not send', async () => {
  const { log, lines } = await logTo('plain');
  log({
    type: 'grant',
    class: 'create',
    gate: `a\n\u001b[31m${'x'.repeat(5000)}`,
    runId: null,
    waitedMs: 0,
  });
  expect(lines()).toEqual([
    expect.stringMatching(/^grant class=create gate="a[^\u001b]{100,250}…" waitedMs=0$/),
  ]);
});
