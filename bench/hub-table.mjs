const second = 1000;
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const quantile = (values, q) => values.toSorted((a, b) => a - b)[Math.ceil(values.length * q) - 1];

/** Returns the delays of gates, which are milliseconds. */
const delaysOf = (values) => ({
  mean: mean(values),
  slow: quantile(values, 0.95),
  slowest: quantile(values, 1),
});

/**
 * Returns what the mock saw of a fleet.
 * @param ends when each gate and its run ended
 * @param mark when a fault began, and when the service was bad
 */
export function summaryOf(mock, ends, { faultAt, badFrom, badUntil }) {
  const refused = mock.requests.filter(({ status }) => status === 429);
  const inStorm = refused.filter(({ at }) => at >= badFrom && at < badUntil);
  const others = refused.filter((request) => !inStorm.includes(request));
  const createdAt = new Map(
    mock.requests
      .filter(({ endpoint, status }) => endpoint === 'run.trigger' && status === 201)
      .map(({ at }, nth) => [mock.runs[nth]?.runId, at]),
  );
  const hadPlace = ({ path }) => {
    const [, runId] = /\/(run_[^/]+)/.exec(path) ?? [];
    return createdAt.get(runId) < faultAt;
  };
  const requests = mock.requests.filter(({ endpoint }) => endpoint?.startsWith('run.'));
  return {
    runs: mock.runs.length,
    delay: delaysOf(ends.map(({ endedAt, runEnd }) => endedAt - runEnd)),
    sinceReadable: delaysOf(
      ends.map(({ endedAt, runEnd }) => endedAt - Math.max(runEnd, Number.isNaN(badUntil) ? 0 : badUntil)),
    ),
    requestsPerRun: requests.length / ends.length,
    refused: others.length,
    refusedWithPlace: others.filter(hadPlace).length,
    refusedInStorm: inStorm.length,
  };
}

const limits = { timeoutMs: 3600 * second, maxAttempts: Number.POSITIVE_INFINITY };

/** Returns the simulated figures of a scenario, or null if it cannot be simulated. */
export async function simulatedRow({ simulateGates, slidingMinute }, { gates: size, simulated }, durationMs) {
  if (simulated === undefined) return null;
  const { hub, trouble } = simulated;
  const totals = [];
  for (const seed of [1, 2, 3])
    totals.push(
      await simulateGates({
        ...{ size, seed, hub, trouble, ...limits, runMs: [durationMs, durationMs] },
        limiter: slidingMinute({ counting: false, retryAfter: true }),
      }),
    );
  const all = (key) => totals.flatMap((total) => total[key]);
  const sum = (key) => totals.reduce((before, total) => before + total[key], 0);
  return {
    delay: delaysOf(all('delays')),
    sinceReadable: delaysOf(all('delaysSinceReadable')),
    requestsPerRun: sum('requests') / (size * totals.length),
    refused: sum('limited') / totals.length,
  };
}

/** Returns the aims that a row misses. */
export function missed({ gates, aim, right, runs, delay, refusedWithPlace }) {
  return [
    ...(right === gates ? [] : [`${gates - right} wrong exit codes`]),
    ...(runs === gates ? [] : [`${runs} runs`]),
    ...(aim === undefined || delay.mean <= aim * second ? [] : [`mean delay above ${aim} s`]),
    ...(refusedWithPlace === 0 ? [] : [`${refusedWithPlace} responses with 429`]),
  ];
}

const seconds = (ms) => (ms / second).toFixed(1);
const both = (delay) => (delay === undefined ? '–' : `${seconds(delay.mean)} (${seconds(delay.slow)})`);

const heads = [
  ...['gates', 'fault', 'right', 'simulated delay, s', 'delay, s', 'longest, s', 'since readable, s'],
  ...['simulated requests a run', 'requests a run', '429s', 'with a place', 'total, min', 'aim for the mean'],
];

/** Returns the lines of the table. A delay is the mean, and in parentheses the 95 % delay. */
export function hubTable(rows) {
  const lines = [heads, heads.map((_, at) => (at === 1 ? '---' : '---:'))];
  for (const row of rows) {
    const { name, gates, aim, right, delay, sinceReadable, simulated, refusedInStorm } = row;
    const wrong = missed(row);
    lines.push([
      ...[gates, name, `${right} of ${gates}`, both(simulated?.delay), both(delay), seconds(delay.slowest)],
      ...[both(sinceReadable), simulated?.requestsPerRun.toFixed(1) ?? '–', row.requestsPerRun.toFixed(1)],
      refusedInStorm > 0 ? `${row.refused} + ${refusedInStorm}` : row.refused,
      ...[row.refusedWithPlace, (row.tookMs / 60_000).toFixed(1)],
      wrong.length > 0 ? `missed: ${wrong.join(', ')}` : `${aim === undefined ? '' : `${aim} s: `}met`,
    ]);
  }
  return lines.map((cells) => `| ${cells.join(' | ')} |`);
}
