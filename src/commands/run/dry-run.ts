import { kindFor } from '../../client/credentials.ts';
import { prepareRequest } from '../../client/request.ts';
import { run } from '../../contract/run.ts';
import { exitCodes } from '../../exit.ts';
import type { PlanNode } from '../../gate/plan/graph.ts';
import { unnamed } from '../../gate/plan/plan.ts';
import type { Flags } from '../../options/table.ts';
import { renderJson, wantsJson } from '../../output/json.ts';
import { parseApiUrl } from '../../transport/address.ts';
import type { Context } from '../context.ts';
import { sourceName } from '../source-names.ts';
import { under } from '../spec.ts';
import type { PlannedStart } from './start.ts';

export const dryRun = under('Behaviour:', {
  '--dry-run': 'print what would be sent, with its idempotency key, and send nothing',
});

const endpoint = run['run.trigger'];

/** Prints the requests that would create the runs, in order. Nothing is sent. @throws what the requests would be refused for */
export async function printRequests(
  context: Context,
  starts: readonly (PlanNode & Pick<PlannedStart, 'start' | 'how' | 'madeFrom'>)[],
  { insecureHttp }: Pick<Flags, 'insecureHttp'>,
): Promise<number> {
  const { output, settings } = context;
  const { apiUrl, apiKey, token, auth } = settings;
  const credentials = { apiKey: apiKey?.value, token: token?.value, auth: auth?.value };
  const id = kindFor(endpoint.auth, credentials) === 'key' ? 'apiKey' : 'token';
  const used = settings[id];
  const credential = used === undefined ? null : sourceName(id, used);
  const base = apiUrl && parseApiUrl(apiUrl.value, insecureHttp);
  const requests = starts.map(({ name, needs, advisory, how, start }) => {
    const { body, chain } = start;
    const { key, trust } = chain.link;
    // Without a credential or an address the request can still be shown.
    const sender = { ...credentials, [id]: used?.value ?? '-' };
    const { method, url, path } = prepareRequest(
      'run.trigger',
      endpoint,
      { params: {}, body, idempotencyKey: key },
      base ?? new URL('http://localhost'),
      sender,
    );
    return {
      gate: name === unnamed ? null : name,
      needs,
      advisory,
      method,
      url: base === undefined ? null : url.href,
      path,
      credential,
      body,
      // A random key is made again when the gate runs.
      idempotencyKey: trust === 'random' ? null : key,
      keyOrigin: how,
    };
  });
  if (wantsJson(output)) {
    await output.data({ schemaVersion: 1, requests }, { head: [], rows: [] });
    return exitCodes.ok;
  }
  const texts = requests.map((request, at) => {
    const { gate, needs, advisory, method, url, path, idempotencyKey, keyOrigin } = request;
    const title = [
      `gate ${gate}`,
      ...(needs.length > 0 ? [`after ${needs.join(', ')}`] : []),
      ...(advisory ? ['advisory'] : []),
    ].join(', ');
    const lines = [
      ...(gate === null ? [] : [title]),
      `${method} ${output.excerpt(url ?? `${path} (no address: set RUNGATE_API_URL)`, 2000)}`,
      `credential: ${output.excerpt(credential ?? 'none: set RUNGATE_API_KEY', 400)}`,
      `idempotency key: ${output.excerpt(keyOrigin, 200)}`,
      ...(idempotencyKey === null ? [] : [`  ${output.excerpt(idempotencyKey, 300)}`]),
      ...(starts[at]?.madeFrom ?? []).map((line) => output.excerpt(line, 300)),
      renderJson(request.body, 2).trimEnd(),
    ];
    return `${lines.join('\n')}\n`;
  });
  await output.result(texts.join('\n'));
  await output.note('nothing was sent (--dry-run)');
  return exitCodes.ok;
}
