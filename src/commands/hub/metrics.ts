import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { hubVersion, requestClasses } from '../../gate/fleet/protocol.ts';
import type { HubLogEvent } from '../../hub/http.ts';
import type { HubState } from '../../hub/server.ts';

const prefix = 'rungate_hub_';

/** `known`: the labels of events that may come. A metric that appears only with its first event has no rate for it. */
type EventRow = [help: string, label?: string, known?: readonly string[]];

/** The metrics that events change. */
const eventRows = {
  deliveries_total: [
    'Deliveries by result: accepted, replay, or the reason for the refusal',
    'result',
    ['accepted', 'replay', 'mismatch'],
  ],
  delivery_age_seconds: ['Age of accepted deliveries when they arrived'],
  wakes_total: ['Wake-ups sent to gates'],
  grants_total: ['Requests granted to gates, by class', 'class', requestClasses],
  grant_wait_seconds: ['Time that gates waited for a grant, by class', 'class', requestClasses],
  reported_requests_total: [
    'Requests that gates sent without a grant and reported, by kind',
    'kind',
    ['read', 'create'],
  ],
  rate_limited_total: ['Responses with status code 429 that gates reported'],
  detached_gates_total: ['Detached gates that the hub has kept'],
  jobs_total: [
    'Jobs for detached gates, by result of the start: started or failed',
    'result',
    ['started', 'failed'],
  ],
  refused_requests_total: ['Refused requests other than deliveries, by status code', 'status'],
  faults_total: ['Unexpected errors of the hub'],
} satisfies Record<string, EventRow>;
type EventMetric = keyof typeof eventRows;

/** Those of them that are histograms, in seconds. */
const buckets: { [Name in EventMetric]?: number[] } = {
  // Up to the age at which a delivery is refused.
  delivery_age_seconds: [1, 2, 5, 10, 30, 60, 120, 300],
  // Up to the time that a gate may wait in a large fleet.
  grant_wait_seconds: [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600],
};

type Add = (name: EventMetric, amount: number, ...labels: string[]) => void;

/** Adds an event to the metrics. */
const changes: { [Type in HubLogEvent['type']]?: (event: HubLogEvent & { type: Type }, add: Add) => void } = {
  delivery({ replay, ageSeconds }, add) {
    add('deliveries_total', 1, replay ? 'replay' : 'accepted');
    if (!replay) add('delivery_age_seconds', ageSeconds);
  },
  'refused-delivery': ({ code }, add) => add('deliveries_total', 1, code),
  grant(event, add) {
    add('grants_total', 1, event.class);
    add('grant_wait_seconds', event.waitedMs / 1000, event.class);
  },
  reported({ reads, creates }, add) {
    add('reported_requests_total', reads, 'read');
    add('reported_requests_total', creates, 'create');
  },
  wake: (_, add) => add('wakes_total', 1),
  limited: (_, add) => add('rate_limited_total', 1),
  'gate-kept': (_, add) => add('detached_gates_total', 1),
  'job-started': (_, add) => add('jobs_total', 1, 'started'),
  'start-failed': (_, add) => add('jobs_total', 1, 'failed'),
  'refused-request': ({ status }, add) => add('refused_requests_total', 1, String(status)),
  fault: (_, add) => add('faults_total', 1),
};

type GaugeRow = [name: string, help: string, value: number | object, ...labels: string[]];

/** The gauges, with a label if they have several values. */
const gaugeRows = ({
  ready,
  streams,
  detached,
  waiting,
  oldestSeconds,
  budget,
  redis,
}: HubState): GaugeRow[] => [
  ['ready', 'Whether the hub should get requests (1) or not (0)', Number(ready)],
  ['streams', 'Open streams of gates', streams],
  ['detached_gates_open', 'Detached gates whose commit status is not decided', detached],
  ['waiting_requests', 'Requests that wait for a grant, by line', waiting, 'line'],
  ['oldest_request_seconds', 'Time that the oldest request has waited, by line', oldestSeconds, 'line'],
  ['budget_configured', 'Requests a minute that --budget allows, by limit', budget.configured, 'limit'],
  ['budget_present', 'Requests a minute that the hub grants now, by limit', budget.present, 'limit'],
  ...(redis === null ? [] : [['redis_up', 'Whether Redis works (1) or not (0)', Number(redis)] as GaugeRow]),
];

/** @param version of rungate; @param node the version of Node */
export function createMetrics(version: string, node: string) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const gaugeOf = (name: string, help: string, ...labelNames: string[]) =>
    (registry.getSingleMetric(prefix + name) as Gauge | undefined) ??
    new Gauge({ name: prefix + name, help, labelNames, registers });
  gaugeOf('build_info', 'Versions of rungate, of the protocol and of Node', 'version', 'protocol', 'node')
    .labels(version, String(hubVersion), node)
    .set(1);
  const metrics = new Map<string, Counter | Histogram>();
  for (const [name, [help, label, known = []]] of Object.entries<EventRow>(eventRows)) {
    const options = { name: prefix + name, help, labelNames: label === undefined ? [] : [label], registers };
    const bounds = buckets[name as EventMetric];
    const metric =
      bounds === undefined ? new Counter(options) : new Histogram({ ...options, buckets: bounds });
    metrics.set(name, metric);
    for (const value of known) {
      if (metric instanceof Histogram) metric.zero({ [String(label)]: value });
      else metric.labels(value).inc(0);
    }
  }
  const add: Add = (name, amount, ...labels) => {
    const metric = metrics.get(name);
    if (metric instanceof Histogram) metric.labels(...labels).observe(amount);
    else metric?.labels(...labels).inc(amount);
  };
  return {
    count: (event: HubLogEvent) =>
      (changes[event.type] as ((event: HubLogEvent, add: Add) => void) | undefined)?.(event, add),
    /** Returns the metrics in the text format of Prometheus, and its content type. */
    async text(state: HubState) {
      for (const [name, help, value, ...labelNames] of gaugeRows(state)) {
        const gauge = gaugeOf(name, help, ...labelNames);
        if (typeof value === 'number') gauge.set(value);
        else for (const [label, each] of Object.entries(value)) gauge.labels(label).set(each);
      }
      return { type: registry.contentType, text: await registry.metrics() };
    },
  };
}
