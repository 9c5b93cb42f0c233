import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StopSignal } from '../../../src/errors.ts';
import { asked, type Stage, stage, trigger } from '../../cli/harness.ts';
import { type Fate, origin, previewService } from '../../preview/service.ts';
import { machine } from '../../slice/machine.ts';
import type { ModelRequest } from '../../slice/service.ts';
import { until } from '../../until.ts';

describe('a stop', () => {
  let on: Stage;
  beforeEach(async () => {
    on = await stage({ outcome: 'stuck' });
  });
  afterEach(() => on.close());

  const runs = () => [...on.mock.state.runs.values()];
  const cancelled = () => runs().map((run) => run.cancelled !== undefined);
  const wasRead = () => asked(on.mock).includes('run.status');

  it.each([
    ['run trigger --wait', [], 'requested'],
    ['run trigger --wait --no-cancel-on-interrupt', [], 'none'],
    ['run wait', ['first', 'second'], 'none'],
    ['run wait --cancel-on-interrupt', ['first', 'second'], 'requested'],
  ] as const)('SIGTERM stops %s %j: cancellation %s', async (line, waitsFor, cancellation) => {
    const ids: string[] = [];
    for (const _ of waitsFor) ids.push((await on.rungate(...trigger)).out.trim());
    const argv = [...line.split(' '), ...(ids.length > 0 ? ids : trigger.slice(2)), '--json'];
    const { code, out } = await on.with({ stopsWhen: wasRead })(...argv);
    expect(code).toBe(143);
    const report = JSON.parse(out);
    expect(report).toMatchObject({ result: 'fail', interruptedBy: 'SIGTERM', cancellation });
    expect(report.runs.map(({ runId }: { runId: string }) => runId)).toEqual(runs().map(({ id }) => id));
    expect(cancelled()).toEqual(runs().map(() => cancellation === 'requested'));
  });

  it('a cancel that is lost is sent again', async () => {
    on.mock.faults.add({ kind: 'reset', endpoint: 'run.cancel' });
    const { out } = await on.with({ stopsWhen: wasRead })(...trigger, '--wait', '--json');
    expect(JSON.parse(out).cancellation).toBe('requested');
    expect(cancelled()).toEqual([true]);
  });

  it('a stop while rungate waits for a rate limit creates no run', async () => {
    on.mock.faults.add({ kind: 'status', status: 429, endpoint: 'run.trigger', times: 99 });
    const { code, out } = await on.with({ stopsWhen: () => true })(...trigger, '--wait', '--json');
    expect(code).toBe(143);
    expect(JSON.parse(out)).toMatchObject({ cancellation: 'none', runs: [] });
    expect(asked(on.mock)).toEqual(['run.trigger']);
  });

  it('a stop while the run is being created without --wait prints its id, and does not cancel it', async () => {
    on.mock.faults.add({ kind: 'stall-body', endpoint: 'run.trigger' });
    const onStop = (stop: (signal: StopSignal) => void) => {
      void until(() => on.mock.requests.length > 0).then(() => stop('SIGTERM'));
    };
    expect(await on.with({ onStop })(...trigger)).toMatchObject({ code: 143, out: `${runs()[0]?.id}\n` });
    expect(cancelled()).toEqual([false]);
  });
});

describe('a stop during the create', () => {
  const isCreate = ({ method, path }: ModelRequest) => method === 'POST' && path === '/api/ci/runs';
  const isCancel = ({ path }: ModelRequest) => path.endsWith('/cancel');
  const signalAt = 500;
  const flags = ['--project', 'shop', '--process', 'web', '--json'];

  interface Given {
    argv?: readonly string[];
    files?: Record<string, string>;
    /** How long the response to the first request takes. */
    createMs?: number;
    fates?: readonly Fate[];
    /** The service refuses a key whose first request it still handles. */
    locks?: boolean;
  }

  /** Stops a gate with SIGTERM half a second after its start, on virtual time. */
  async function stopped({ argv = ['gate', ...flags], files = {}, createMs = 50, fates = [], locks }: Given) {
    const service = previewService({ courses: { web: [{ end: 'never', seconds: 0 }] } });
    const sent: ModelRequest[] = [];
    const until = new Map<string, number>();
    let latency = { uploadMs: 20, downloadMs: createMs - 20 };
    const on = machine({
      latency() {
        const next = latency;
        latency = { uploadMs: 20, downloadMs: 20 };
        return next;
      },
      handle(request, at) {
        sent.push(request);
        const key = request.headers['idempotency-key'] ?? '';
        if (locks && at < (until.get(key) ?? 0))
          return { status: 409, body: { error: 'Request in progress' } };
        until.set(key, at + createMs);
        const response = service.handle(request, at);
        return isCreate(request) && fates[sent.filter(isCreate).length - 1] === 'lost' ? null : response;
      },
    });
    Object.assign(on.files, files);
    const env = { RUNGATE_API_URL: origin };
    const signal = { afterMs: signalAt, name: 'SIGTERM' } as const;
    const ended = await on.during(on.launch({ argv, signal, settings: { env } }));
    const creates = sent.filter(isCreate);
    const keys = new Set(creates.map(({ headers, body }) => `${headers['idempotency-key']} ${body}`));
    return {
      code: ended.code,
      json: JSON.parse(ended.out),
      tookMs: ended.endedAt - ended.startedAt - signalAt,
      runs: service.runs.length,
      cancelled: service.runs.filter(({ cancelledAt }) => cancelledAt < Number.POSITIVE_INFINITY).length,
      ...{ creates: creates.length, keys: keys.size, cancels: sent.filter(isCancel).length },
    };
  }

  const right = {
    code: 143,
    runs: 1,
    cancelled: 1,
    keys: 1,
    cancels: 1,
    json: { cancellation: 'requested' },
  };

  describe.each([
    ['gate', ['gate', ...flags]],
    ['run trigger --wait', ['run', 'trigger', '--wait', ...flags]],
  ])('a signal while %s creates its run', (_what, argv) => {
    it.each([600, 1_000, 2_000, 2_499, 2_501, 3_000, 3_400])(
      'cancels the run whose response takes %i ms, without another request',
      async (createMs) => {
        const result = await stopped({ argv, createMs });
        expect(result).toMatchObject({ ...right, creates: 1 });
        expect(result.tookMs).toBeLessThanOrEqual(5_000);
      },
    );

    it.each([3_600, 4_200, 4_800, 60_000])(
      'asks a second time for the run whose response takes %i ms',
      async (createMs) => {
        const result = await stopped({ argv, createMs });
        expect(result).toMatchObject({ ...right, creates: 2 });
        expect(result.tookMs).toBeLessThanOrEqual(5_000);
      },
    );

    it('reports a run that may exist if no response comes in time', async () => {
      const result = await stopped({ argv, createMs: 60_000, locks: true });
      const lost = [{ runId: null, verdict: null, idempotencyKey: expect.any(String) }];
      expect(result).toMatchObject({ code: 143, cancels: 0, json: { cancellation: 'failed', runs: lost } });
      expect(result.tookMs).toBeLessThanOrEqual(5_000);
    });
  });

  it('a signal cancels the runs of several gates, the slow one as well', async () => {
    const file = JSON.stringify({ project: 'shop', gates: { a: { process: 'web' }, b: { process: 'web' } } });
    const argv = ['gate', '--json'];
    const result = await stopped({ argv, files: { '/work/.rungate.json': file }, createMs: 3_000 });
    expect(result).toMatchObject({ code: 143, runs: 2, cancelled: 2, creates: 2, keys: 2, cancels: 2 });
    expect(result.tookMs).toBeLessThanOrEqual(5_000);
  });
});
