// Runs the table and the vectors with the packed package on the current runtime. Do not use Node's modules here.
import * as webhook from 'rungate/webhook';
import { isExpected, outcomeOf, table } from '../webhook/table.ts';
import { bodyOf, refused, secretOf, vectors } from '../webhook/vectors.ts';

async function runTable(verify) {
  const results = [];
  for (const { title, rows } of table) {
    for (const row of rows) {
      const outcome = await outcomeOf(verify, row.options());
      const failure = isExpected(outcome, row)
        ? null
        : `${JSON.stringify(outcome)} instead of ${JSON.stringify(row.expected)}`;
      results.push({ name: `${title}: ${row.name}`, failure });
    }
  }
  return results;
}

async function runVectors(sign) {
  const results = [];
  for (const vector of vectors) {
    const { name, timestamp } = vector;
    const wanted = refused.includes(name) ? 'malformed_timestamp' : vector.signature;
    const given = await sign({ body: bodyOf(vector.body), secret: secretOf(vector), timestamp }).then(
      ({ signature }) => signature,
      (error) => error.code ?? String(error),
    );
    const failure = given === wanted ? null : `${given} instead of ${wanted}`;
    results.push({ name: `openssl’s ${name}`, failure });
  }
  return results;
}

/** An entry's `sign` and `verify`: results as `{ name, failure }`, which is what went wrong, or null. */
export async function runEntry(entry, { sign, verify }) {
  const results = [...(await runTable(verify)), ...(await runVectors(sign))];
  return results.map(({ name, failure }) => ({ name: `${entry}: ${name}`, failure }));
}

export function runWebhook() {
  return runEntry('rungate/webhook', webhook);
}
