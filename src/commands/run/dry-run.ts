import type { CiContext } from '../../ci/context.ts';
import { kindFor } from '../../client/credentials.ts';
import { prepareRequest } from '../../client/request.ts';
import { run } from '../../contract/run.ts';
import { exitCodes } from '../../exit.ts';
import { mostLinks } from '../../gate/chain.ts';
import { type StartingGate, unnamed } from '../../gate/plan/plan.ts';
import type { Start } from '../../gate/start.ts';
import { renderJson, wantsJson } from '../../output/json.ts';
import type { Output } from '../../output/output.ts';
import { parseApiUrl, receiver } from '../../transport/address.ts';
import type { Context } from '../context.ts';
import { sourceName } from '../source-names.ts';
import { under } from '../spec.ts';

export const dryRun = under('Behaviour:', {
  '--dry-run': 'print what would be sent, with its idempotency key, and send nothing',
});

const endpoint = run['run.trigger'];

/** Prints the requests that would create the runs, in order. Nothing is sent. @throws what the requests would be refused for */
export async function printRequests(context: Context, gates: readonly StartingGate[]): Promise<number> {
  const { flags, output, settings, nameOf } = context;
  const { apiUrl, apiKey, token, auth } = settings;
  const credentials = { apiKey: apiKey?.value, token: token?.value, auth: auth?.value };
  const id = kindFor(endpoint.auth, credentials) === 'key' ? 'apiKey' : 'token';
  const used = settings[id];
  const credential = used === undefined ? null : sourceName(id, used);
  const base = apiUrl && parseApiUrl(apiUrl.value, receiver('service', nameOf), flags.insecureHttp);
  const requests = gates.map(({ name, needs, advisory, start }) => {
    const { body, chain, how = '' } = start;
    const { key, trust } = chain.link;
    // Without a credential or an address the request can still be shown.
    const sender = { ...credentials, [id]: used?.value ?? '-', nameOf };
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
    await output.data({ schemaVersion: 1, requests }, '');
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
      ...madeFrom(gates[at]?.start).map((line) => output.excerpt(line, 300)),
      renderJson(request.body, 2).trimEnd(),
    ];
    return `${lines.join('\n')}\n`;
  });
  await output.result(texts.join('\n'));
  await output.note('nothing was sent (--dry-run)');
  return exitCodes.ok;
}

/** Returns the lines about the facts that the keys of a start are made from; none for keys that are given or random. */
function madeFrom({ made }: Partial<Start> = {}): string[] {
  if (made === undefined) return [];
  return [
    'made from:',
    ...Object.entries(made.ingredients).map(([name, value]) => `  ${name}: ${value ?? '(unknown)'}`),
    `journal: ${made.path}`,
  ];
}

function reRunOf({ attempt }: CiContext): string {
  if (attempt === null) return 're-runs are not counted';
  return attempt === 1 ? 'not a re-run' : `re-run ${attempt - 1} of the job`;
}

/** Shows how the keys of gates are made, for `--explain-key`. */
export async function explainKeys(
  output: Output,
  gates: readonly StartingGate[],
  ci: CiContext,
): Promise<void> {
  for (const { name, rules, start } of gates) {
    const { chain, how } = start;
    const { key } = chain.link;
    const most = mostLinks(chain.attempt, rules.retries ?? 0) - 1;
    const lines =
      start.made === undefined
        ? [`idempotency key ${key} (${how})`]
        : [
            `idempotency keys of ${ci.provider}, ${reRunOf(ci)}:`,
            `  first ${key} (${how})`,
            `  then up to ${most} more, each a hash of the previous key and of the id of the run that had ended under it`,
            `  finally ${chain.spare} (random)`,
            ...madeFrom(start),
          ];
    if (name !== unnamed) await output.alert(`gate ${name}:`);
    for (const line of lines) await output.alert(output.excerpt(line, 300));
  }
}
