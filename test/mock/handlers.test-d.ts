import { expectTypeOf, test } from 'vitest';
import type { EndpointName, ServiceApi } from '../../src/contract/index.ts';
import type { run } from '../../src/contract/run.ts';
import { handlers } from '../../src/mock/handlers/index.ts';
import { runHandlers } from '../../src/mock/handlers/run.ts';
import type { Handler, Handlers, HandlersOf } from '../../src/mock/service.ts';

type Status = Handler<ServiceApi['run.status']>;

test('every endpoint has a handler', () => {
  expectTypeOf<keyof Handlers>().toEqualTypeOf<EndpointName>();
  expectTypeOf(handlers).toExtend<Handlers>();
});

test('a missing handler does not compile', () => {
  const { 'run.cancel': _left, ...rest } = runHandlers;
  // @ts-expect-error run.cancel is missing
  const missing: HandlersOf<typeof run> = rest;
  const { 'webhooks.deliveries.retry': _out, ...most } = handlers;
  // @ts-expect-error one handler is missing
  const incomplete: Handlers = most;
  expectTypeOf(missing).not.toBeAny();
  expectTypeOf(incomplete).not.toBeAny();
});

test('a handler of an unknown endpoint does not compile', () => {
  const extra: HandlersOf<typeof run> = {
    ...runHandlers,
    // @ts-expect-error the endpoint does not exist
    'run.pause': () => ({}),
  };
  expectTypeOf(extra).not.toBeAny();
});

test('a state outside the API does not compile', () => {
  const right: Status = () => ({ body: { state: 'completed', failed: 0, blocked: 0 } });
  // @ts-expect-error the API does not have the state done
  const wrong: Status = () => ({ body: { state: 'done', failed: 0, blocked: 0 } });
  expectTypeOf(right).toExtend<Status>();
  expectTypeOf(wrong).toExtend<Status>();
});

test('a count of the wrong type and a missing body do not compile', () => {
  // @ts-expect-error failed is a number
  const text: Status = () => ({ body: { state: 'completed', failed: '0', blocked: 0 } });
  // @ts-expect-error the API describes a body, so it is required
  const none: Status = () => ({});
  expectTypeOf([text, none]).not.toBeAny();
});

test('a handler gets the types of the API', () => {
  type Trigger = Parameters<Handler<ServiceApi['run.trigger']>>[0];
  type Variable = Parameters<Handler<ServiceApi['env.vars.update']>>[0];
  type Webhooks = Parameters<Handler<ServiceApi['webhooks.list']>>[0];
  type Cancel = Parameters<Handler<ServiceApi['run.cancel']>>[0];
  expectTypeOf<Variable['params']>().toEqualTypeOf<{ readonly envId: string; readonly varId: string }>();
  expectTypeOf<Trigger['body']['projectSlug']>().toEqualTypeOf<string>();
  expectTypeOf<Webhooks['query']['includeGlobal']>().toEqualTypeOf<boolean | undefined>();
  expectTypeOf<undefined>().toExtend<Cancel['body']>();
  // @ts-expect-error a status request does not have this parameter
  expectTypeOf<Parameters<Status>[0]['params']['id']>().toBeString();
});
