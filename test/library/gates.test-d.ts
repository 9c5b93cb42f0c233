import { expectTypeOf, test } from 'vitest';
import {
  type GateEvent,
  type GateResult,
  type GatesEvent,
  type GatesReport,
  gate,
  gates,
  type NamedGateReport,
  type StopCause,
} from '../../src/index.ts';

const service = { apiUrl: 'https://service.example.com', apiKey: undefined };
const trigger = { projectSlug: 'shop', processSlug: 'checkout' };

test('the result has the result of each gate', () => {
  expectTypeOf(gates).returns.resolves.toEqualTypeOf<GatesReport>();
  expectTypeOf<GatesReport['gates']>().toEqualTypeOf<NamedGateReport[]>();
  expectTypeOf<NamedGateReport['result']>().toEqualTypeOf<GateResult>();
  expectTypeOf<GateResult>().toEqualTypeOf<'pass' | 'warn' | 'fail' | 'skipped' | 'waiting'>();
  expectTypeOf<GatesReport['interruptedBy']>().toEqualTypeOf<StopCause | undefined>();
});

test('an event has the name of its gate, and its type decides its other fields', () => {
  expectTypeOf<GateEvent>().toExtend<GatesEvent>();
  void gates({
    ...service,
    gates: { api: { trigger } },
    onProgress(event) {
      expectTypeOf(event.gate).toEqualTypeOf<string | undefined>();
      if (event.type === 'gate') expectTypeOf(event.report).toEqualTypeOf<NamedGateReport>();
      if (event.type === 'created') expectTypeOf(event.runId).toEqualTypeOf<string>();
    },
  });
});

test('invalid options do not compile', () => {
  // @ts-expect-error no gates
  void gates({ ...service });
  // @ts-expect-error a gate without a run
  void gates({ ...service, gates: { api: {} } });
  // @ts-expect-error no existing runs
  void gates({ ...service, gates: { api: { trigger } }, runIds: ['r'] });
  // @ts-expect-error one key for all gates
  void gates({ ...service, gates: { api: { trigger } }, idempotencyKey: 'k' });
  // @ts-expect-error an unknown result never passes
  void gates({ ...service, gates: { api: { trigger, on: { timeout: 'pass' } } } });
  // @ts-expect-error needs is a list
  void gates({ ...service, gates: { api: { trigger, needs: 'web' } } });
  // @ts-expect-error neither a run to start nor existing runs
  void gate({ ...service });
  // @ts-expect-error both
  void gate({ ...service, trigger, runIds: ['r'] });
  // @ts-expect-error existing runs are not started again
  void gate({ ...service, runIds: ['r'], retries: 1 });
  // @ts-expect-error existing runs have an environment
  void gate({ ...service, runIds: ['r'], preview: { baseUrl: 'https://shop.example' } });
  // @ts-expect-error only gates fails fast
  void gate({ ...service, trigger, failFast: true });
});
