/** Returns a quantile of unsorted values by the nearest rank. */
export function quantile(values, part) {
  if (values.length === 0) throw new Error('no values');
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.round((sorted.length - 1) * part)];
}

/** Returns the median and the spread: the 10th and 90th percentiles. */
export function summary(values) {
  return { low: quantile(values, 0.1), median: quantile(values, 0.5), high: quantile(values, 0.9) };
}

/**
 * Returns the ratios of values to a base, round by round, so that a slow minute of the machine affects both or
 * neither. Both must be measured in turn.
 */
export function ratios(values, base) {
  if (values.length !== base.length) throw new Error(`${values.length} values over ${base.length}`);
  return summary(values.map((value, round) => value / base[round]));
}

/**
 * Runs each measurement once per round and returns the results of each in order. Each round begins with another
 * one, because the first one may find a cooler processor. The first round warms up and is not counted.
 */
export async function inTurn(rounds, measurements) {
  const all = Object.entries(measurements);
  const results = Object.fromEntries(all.map(([name]) => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (let place = 0; place < all.length; place += 1) {
      const [name, measure] = all[(place + round + 1) % all.length];
      const result = await measure();
      if (round >= 0) results[name].push(result);
    }
  }
  return results;
}
