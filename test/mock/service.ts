import { afterEach } from 'vitest';
import { type MockOptions, type MockServer, startMock } from '../../src/mock/server.ts';
import { type FakeClock, fakeClock } from '../fake-clock.ts';

export interface TestResponse {
  status: number;
  headers: Headers;
  text: string;
  /** Returns the body as JSON; throws if it is not. */
  json(): Record<string, unknown>;
}

export interface Service {
  mock: MockServer;
  clock: FakeClock;
  /** Sends a request with the API key, unless the headers have a credential. */
  call(
    method: string,
    path: string,
    parts?: { headers?: Record<string, string>; body?: string | Uint8Array | FormData },
  ): Promise<TestResponse>;
  /** Sends a JSON body, as text or as a value. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<TestResponse>;
  /** Sends a request with the bearer token, or with the given one, and a JSON body if there is one. */
  asUser(method: string, path: string, body?: unknown, token?: string): Promise<TestResponse>;
  /** Creates a run and returns its id. */
  trigger(): Promise<string>;
}

const open: MockServer[] = [];

afterEach(async () => {
  for (const mock of open.splice(0)) await mock.close();
});

/** Starts a mock on a fake clock; it is closed after the test. */
export async function startService(options: MockOptions = {}): Promise<Service> {
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
  const trigger = async () => String((await post('/api/ci/runs', byProcess)).json().runId);
  return { mock, clock, call, post, asUser, trigger };
}

export const byProcess = { projectSlug: 'shop', processSlug: 'checkout' };
export const byTags = { projectSlug: 'shop', tags: ['smoke'] };

/** Returns the items of a response. */
export function itemsOf(response: TestResponse): Record<string, unknown>[] {
  return response.json().items as Record<string, unknown>[];
}

/** Returns the id in a response. */
export function idOf(response: TestResponse): string {
  return String(response.json().id);
}
