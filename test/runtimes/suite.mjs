// The table and the vectors on the packed package, in whatever runtime this is loaded. Nothing here may need Node.
import * as webhook from 'rungate/webhook';
import { answerOf, isAnswer, table } from '../webhook/table.ts';
import { bodyOf, refused, secretOf, vectors } from '../webhook/vectors.ts';

async function runTable(verify) {
  const results = [];
  for (const { title, rows } of table) {
    for (const row of rows) {
      const given = await answerOf(verify, row.options());
      const failure = isAnswer(given, row)
        ? null
        : `${JSON.stringify(given)} instead of ${JSON.stringify(row.answer)}`;
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
