import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { hubVersion, requestClasses } from '../../gate/fleet/protocol.ts';
import type { HubLogEvent } from '../../hub/http.ts';
import { type BudgetLimits, lines, usualBudget } from '../../hub/ledger.ts';
import type { HubState } from '../../hub/server.ts';

const limitNames = Object.keys(usualBudget) as (keyof BudgetLimits)[];
/** Up to the time that a gate may wait in a large fleet, in seconds. */
const waitBuckets = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600];
/** Up to the age at which a delivery is refused, in seconds. */
const ageBuckets = [1, 2, 5, 10, 30, 60, 120, 300];

interface HubMetrics {
  count(event: HubLogEvent): void;
  /** Returns the metrics in the text format of Prometheus, and its content type. */
  text(state: HubState): Promise<{ type: string; text: string }>;
}

/** @param version of rungate; @param node the version of Node */
export function createMetrics(version: string, node: string): HubMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name: `rungate_hub_${name}`, help, labelNames, registers });
  const gauge = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name: `rungate_hub_${name}`, help, labelNames, registers });

  gauge('build_info', 'Versions of rungate, of the protocol and of Node', 'version', 'protocol', 'node').set(
    { version, protocol: hubVersion, node },
    1,
  );
  const ready = gauge('ready', 'Whether the hub should get requests (1) or not (0)');
  const deliveries = counter(
    'deliveries_total',
    'Deliveries by result: accepted, replay, or why it was refused',
    'result',
  );
  const ages = new Histogram({
    name: 'rungate_hub_delivery_age_seconds',
    help: 'Age of accepted deliveries when they arrived',
    buckets: ageBuckets,
    registers,
  });
  const wakes = counter('wakes_total', 'Wake-ups sent to gates');
  const grants = counter('grants_total', 'Requests granted to gates, by class', 'class');
  const reported = counter(
    'reported_requests_total',
    'Requests that gates sent without a grant and reported, by kind',
    'kind',
  );
  const waits = new Histogram({
    name: 'rungate_hub_grant_wait_seconds',
    help: 'Time that gates waited for a grant, by class',
    labelNames: ['class'],
    buckets: waitBuckets,
    registers,
  });
  const limited = counter('rate_limited_total', 'Responses with status code 429 that gates reported');
  const refused = counter(
    'refused_requests_total',
    'Refused requests other than deliveries, by status code',
    'status',
  );
  const faults = counter('faults_total', 'Unexpected errors of the hub');
  const streams = gauge('streams', 'Open streams of gates');
  const waiting = gauge('waiting_requests', 'Requests of gates that wait for a grant, by line', 'line');
  const oldest = gauge('oldest_request_seconds', 'Time that the oldest request has waited, by line', 'line');
  const configured = gauge('budget_configured', 'Requests a minute that --budget allows, by limit', 'limit');
  const present = gauge('budget_present', 'Requests a minute that the hub grants now, by limit', 'limit');
  // Without Redis, this metric does not exist.
  const redis = new Gauge({
    name: 'rungate_hub_redis_up',
    help: 'Whether Redis works (1) or not (0)',
    registers: [],
  });

  // A counter that appears only with its first event has no rate for it.
  for (const result of ['accepted', 'replay', 'mismatch']) deliveries.inc({ result }, 0);
  for (const kind of ['read', 'create']) reported.inc({ kind }, 0);
  for (const of of requestClasses) {
    grants.inc({ class: of }, 0);
    waits.zero({ class: of });
  }

  const counts: { [Type in HubLogEvent['type']]?: (event: HubLogEvent & { type: Type }) => void } = {
    delivery({ replay, ageSeconds }) {
      deliveries.inc({ result: replay ? 'replay' : 'accepted' });
      if (!replay) ages.observe(ageSeconds);
    },
    'refused-delivery': ({ code }) => deliveries.inc({ result: code }),
    grant(event) {
      grants.inc({ class: event.class });
      waits.observe({ class: event.class }, event.waitedMs / 1000);
    },
    reported({ reads, creates }) {
      reported.inc({ kind: 'read' }, reads);
      reported.inc({ kind: 'create' }, creates);
    },
    wake: () => wakes.inc(),
    limited: () => limited.inc(),
    'refused-request': ({ status }) => refused.inc({ status }),
    fault: () => faults.inc(),
  };

  return {
    count: (event) => (counts[event.type] as ((event: HubLogEvent) => void) | undefined)?.(event),
    async text(state) {
      streams.set(state.streams);
      ready.set(state.ready ? 1 : 0);
      for (const limit of limitNames) {
        configured.set({ limit }, state.budget.configured[limit]);
        present.set({ limit }, state.budget.present[limit]);
      }
      for (const line of lines) {
        waiting.set({ line }, state.waiting[line]);
        oldest.set({ line }, state.oldestMs[line] / 1000);
      }
      if (state.redis !== null) {
        registry.registerMetric(redis);
        redis.set(state.redis ? 1 : 0);
      }
      return { type: registry.contentType, text: await registry.metrics() };
    },
  };
}
