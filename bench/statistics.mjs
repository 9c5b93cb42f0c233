/** The value below which that part of the values lies, by the nearest rank; the values need no order. */
export function quantile(values, part) {
  if (values.length === 0) throw new Error('no values');
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.round((sorted.length - 1) * part)];
}

/** Median and spread: the tenth and the ninetieth percentile. */
export function summary(values) {
  return { low: quantile(values, 0.1), median: quantile(values, 0.5), high: quantile(values, 0.9) };
}

/**
 * How many times the base each value is, where both were measured in turn: round by round, so that a slow minute of the
 * machine is in both or in neither.
 */
export function ratios(values, base) {
  if (values.length !== base.length) throw new Error(`${values.length} values over ${base.length}`);
  return summary(values.map((value, round) => value / base[round]));
}

/**
 * Runs each of the named measurements once a round, and gives the results of each in order. In each round another one is
 * first: who comes first may find a cooler processor. A round before them warms up and is not counted.
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
