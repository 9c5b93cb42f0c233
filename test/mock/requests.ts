import type { Endpoint } from '../../src/contract/endpoint.ts';
import { api, type EndpointName } from '../../src/contract/index.ts';

export const names = Object.keys(api) as EndpointName[];

export interface ValidRequest {
  method: string;
  path: string;
  /** JSON text, if the endpoint needs a body. */
  body: string | undefined;
}

const bodies: Partial<Record<EndpointName, unknown>> = {
  'run.trigger': { projectSlug: 'shop', processSlug: 'checkout' },
  'keys.create': { name: 'ci' },
  'env.create': { name: 'Night build' },
  'webhooks.create': { url: 'https://receiver.example.test/' },
};

/** Returns a request that is valid by the API; its path parameters are `x`. */
export function validRequest(name: EndpointName): ValidRequest {
  const endpoint: Endpoint = api[name];
  const path = endpoint.path.replace(/\{[^}]+\}/g, 'x');
  const needed = endpoint.body !== undefined && !endpoint.bodyOptional;
  return { method: endpoint.method, path, body: needed ? JSON.stringify(bodies[name] ?? {}) : undefined };
}

/** Returns the status code for this request with a valid credential: no item has the id `x`. */
export function validStatus(name: EndpointName): number {
  const endpoint: Endpoint = api[name];
  if (endpoint.path.includes('{')) return 404;
  return endpoint.method === 'POST' ? 201 : 200;
}
