import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';

const description = JSON.parse(
  readFileSync(new URL('../../fixtures/github/openapi.json', import.meta.url), 'utf8'),
);
const ajv = new Ajv({ strict: false });
(addFormats as unknown as (on: Ajv) => void)(ajv);
ajv.addSchema(description, 'github');

interface Status {
  state: string;
  description: string;
  context: string;
  target_url?: string | null;
}

interface Started {
  repository: string;
  workflow: string;
  ref: string;
  inputs: Record<string, string>;
}

/** The permissions of a token, as in the `permissions` of a job, or in those of a fine-grained token. */
export type Permissions = Readonly<Partial<Record<'statuses' | 'actions' | 'contents', 'read' | 'write'>>>;

const operations = Object.entries(description.paths).flatMap(([path, item]) =>
  Object.entries(item as object).map(([method, operation]) => ({
    method: method.toUpperCase(),
    pattern: new RegExp(`^${path.replace(/\{[^}]+\}/g, '([^/]+)')}$`),
    pointer: `github#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}/${method}`,
    operation,
    path,
  })),
);

/** Returns why GitHub would not know a request, by its published description; null if it would. */
function mistakeIn(request: IncomingMessage, body: string): string | null {
  const [path = ''] = (request.url ?? '').split('?');
  const found = operations.find(({ method, pattern }) => method === request.method && pattern.test(path));
  if (found === undefined) return `no operation ${request.method} ${path}`;
  if (!String(request.headers.accept).includes('application/vnd.github+json')) return 'no Accept';
  if (!request.headers['user-agent']) return 'no User-Agent';
  const { pointer, operation } = found;
  if (operation.requestBody === undefined) return body === '' ? null : 'a body that is not described';
  const check = ajv.getSchema(`${pointer}/requestBody/content/application~1json/schema`);
  return check?.(JSON.parse(body)) === true ? null : ajv.errorsText(check?.errors);
}

/** The permission that each operation needs, as GitHub's reference of fine-grained tokens says; absent: metadata, which every token has. */
const needs: Readonly<Record<string, readonly ['statuses' | 'actions' | 'contents', 'read' | 'write']>> = {
  'POST /repos/{owner}/{repo}/statuses/{sha}': ['statuses', 'write'],
  'GET /repos/{owner}/{repo}/commits/{ref}/status': ['statuses', 'read'],
  'GET /repos/{owner}/{repo}/branches/{branch}': ['contents', 'read'],
  'POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches': ['actions', 'write'],
};

/** Starts a server that behaves as GitHub's REST API does. */
export async function startGitHub() {
  const statuses = new Map<string, Status[]>();
  const tokens = new Map<string, Permissions>();
  const stub = {
    /** Requests that GitHub would not know. */
    mistakes: [] as string[],
    started: [] as Started[],
    requests: [] as string[],
    /** The contexts that rulesets, and the older protection, require; null: they cannot be read. */
    required: [] as readonly string[] | null,
    protection: [] as readonly string[],
    /** Answers instead of GitHub, if it returns a status. */
    fail: (_request: string, _count: number): number | undefined => undefined,
    onStart: (_started: Started): void => {},
    allow: (token: string, permissions: Permissions) => void tokens.set(token, permissions),
    /** Returns the statuses of a context, the newest first. */
    statusesOf: (commit: string, context?: string): Status[] =>
      (statuses.get(commit) ?? []).filter((status) => context === undefined || status.context === context),
    /** Returns everything that GitHub has received. */
    all: () => [...statuses.values(), stub.started],
    /** Sets a status as somebody else does. */
    set: (commit: string, status: Status) => {
      statuses.set(commit, [status, ...(statuses.get(commit) ?? [])]);
    },
    url: '',
    close: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
  const answer = (response: ServerResponse, status: number, json?: unknown) => {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(json === undefined ? '' : JSON.stringify(json));
  };
  const handle = (request: IncomingMessage, body: string, response: ServerResponse) => {
    const [path = ''] = (request.url ?? '').split('?');
    const name = `${request.method} ${path}`;
    stub.requests.push(name);
    const mistake = mistakeIn(request, body);
    if (mistake !== null) stub.mistakes.push(`${name}: ${mistake}`);
    const found = operations.find(({ method, pattern }) => method === request.method && pattern.test(path));
    const count = stub.requests.filter((each) => each === name).length;
    const failure = stub.fail(name, count);
    if (failure !== undefined) return answer(response, failure, { message: 'the stub fails' });
    const permissions = tokens.get(String(request.headers.authorization).replace(/^Bearer /, ''));
    if (permissions === undefined) return answer(response, 401, { message: 'Bad credentials' });
    if (found === undefined) return answer(response, 404, { message: 'Not Found' });
    const [scope, access] = needs[`${found.method} ${found.path}`] ?? [];
    const has = scope === undefined ? 'write' : permissions[scope];
    if (has !== 'write' && has !== access)
      return answer(response, 403, { message: 'Resource not accessible by integration' });
    const [, owner = '', repo = '', part = ''] = found.pattern.exec(path) ?? [];
    const json = body === '' ? {} : JSON.parse(body);
    if (found.path.endsWith('/statuses/{sha}')) {
      if (json.description?.length > 140)
        return answer(response, 422, { message: 'description is too long' });
      stub.set(part, json);
      return answer(response, 201, json);
    }
    if (found.path.endsWith('/status')) {
      const latest = new Map(
        stub
          .statusesOf(part)
          .toReversed()
          .map((status) => [status.context, status]),
      );
      const all = [...latest.values()];
      return answer(response, 200, { state: 'pending', sha: part, total_count: all.length, statuses: all });
    }
    const asRules = (contexts: readonly string[]) => contexts.map((context) => ({ context }));
    if (found.path.includes('/rules/branches/')) {
      if (stub.required === null) return answer(response, 403, { message: 'Upgrade to GitHub Pro' });
      const parameters = { required_status_checks: asRules(stub.required) };
      return answer(response, 200, [{ type: 'deletion' }, { type: 'required_status_checks', parameters }]);
    }
    if (found.path.endsWith('/branches/{branch}')) {
      const required_status_checks = { contexts: stub.protection, checks: asRules(stub.protection) };
      return answer(response, 200, { name: part, protected: true, protection: { required_status_checks } });
    }
    const started = { repository: `${owner}/${repo}`, workflow: part, ref: json.ref, inputs: json.inputs };
    stub.started.push(started);
    answer(response, 204);
    stub.onStart(started);
  };
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    handle(request, Buffer.concat(parts).toString(), response);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
  stub.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return stub;
}

export type GitHubStub = Awaited<ReturnType<typeof startGitHub>>;
