import { afterEach } from 'vitest';
import { type Mock, type ServerOptions, startMock } from '../../src/mock/server.ts';
import { type FakeClock, fakeClock } from '../fake-clock.ts';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON; throws where it is none. */
  json(): Record<string, unknown>;
}

export interface Service {
  mock: Mock;
  clock: FakeClock;
  /** Sends a request with the API key, unless the headers bring a credential of their own. */
  call(
    method: string,
    path: string,
    parts?: { headers?: Record<string, string>; body?: string | Uint8Array | FormData },
  ): Promise<Answer>;
  /** Sends a JSON body, as text or as a value. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Sends a request with the token, or with one of another tenant, and a JSON body if there is one. */
  asUser(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
  /** Lets another tenant in, and returns the token to call with. */
  addTenant(tenant: string): string;
  /** Creates a run and returns its id. */
  trigger(): Promise<string>;
}

const open: Mock[] = [];

afterEach(async () => {
  for (const mock of open.splice(0)) await mock.close();
});

/** A mock on a clock that stands still, closed after the test. */
export async function startService(options: ServerOptions = {}): Promise<Service> {
  const clock = fakeClock(Date.UTC(2026, 0, 1));
  const mock = await startMock({ clock, ...options });
  open.push(mock);
  const call: Service['call'] = async (method, path, { headers = {}, body } = {}) => {
    const own = 'x-api-key' in headers || 'authorization' in headers;
    const response = await fetch(mock.url + path, {
      method,
      headers: own ? headers : { 'x-api-key': mock.apiKey, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) };
  };
  const post: Service['post'] = (path, body, headers = {}) =>
    call('POST', path, {
      headers: { 'content-type': 'application/json', 'x-api-key': mock.apiKey, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const asUser: Service['asUser'] = (method, path, body, token = mock.token) =>
    call(method, path, {
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const addTenant = (tenant: string) => {
    const token = `token.of.${tenant}`;
    mock.state.credentials.set(token, { kind: 'token', tenant });
    return token;
  };
  const trigger = async () => String((await post('/api/ci/runs', byProcess)).json().runId);
  return { mock, clock, call, post, asUser, addTenant, trigger };
}

export const byProcess = { projectSlug: 'shop', processSlug: 'checkout' };
export const byTags = { projectSlug: 'shop', tags: ['smoke'] };

/** The items of a reply in the paged shape, or of any other with `items`. */
export function itemsOf(answer: Answer): Record<string, unknown>[] {
  return answer.json().items as Record<string, unknown>[];
}

/** The id in a reply. */
export function idOf(answer: Answer): string {
  return String(answer.json().id);
}
