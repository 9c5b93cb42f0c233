// Runs the tables and the vectors with the packed package on the current runtime. Do not use Node's modules here.
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
    const expected = refused.includes(name) ? 'malformed_timestamp' : vector.signature;
    const actual = await sign({ body: bodyOf(vector.body), secret: secretOf(vector), timestamp }).then(
      ({ signature }) => signature,
      (error) => error.code ?? String(error),
    );
    const failure = actual === expected ? null : `${actual} instead of ${expected}`;
    results.push({ name: `openssl’s ${name}`, failure });
  }
  return results;
}

/** Tests `sign` and `verify` of an entry. Returns `{ name, failure }` for each test; `failure` is null if it passed. */
export async function runEntry(entry, { sign, verify }) {
  const results = [...(await runTable(verify)), ...(await runVectors(sign))];
  return results.map(({ name, failure }) => ({ name: `${entry}: ${name}`, failure }));
}

export function runWebhook() {
  return runEntry('rungate/webhook', webhook);
}
