import type { Endpoint } from '../contract/endpoint.ts';
import { MockError } from './error.ts';
import { checkBody, invalidBody } from './fields.ts';

/** The part `file` of a multipart body, as handlers get it. */
export interface Upload {
  name: string;
  type: string;
  bytes: Uint8Array;
}

async function readUpload(contentType: string, bytes: Uint8Array): Promise<{ file: Upload }> {
  let form: FormData;
  try {
    form = await new Response(bytes, { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw new MockError(400, 'The body is not multipart/form-data', 'body: could not be taken apart');
  }
  const file = form.get('file');
  if (file === null || typeof file === 'string') throw invalidBody('body.file: required, as a file part');
  return { file: { name: file.name, type: file.type, bytes: new Uint8Array(await file.arrayBuffer()) } };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new MockError(400, 'The body is not JSON', `body: ${(error as Error).message}`);
  }
}

/** The body, checked by the contract's schema; undefined where there is none and none is needed. */
export async function readBody(endpoint: Endpoint, contentType: string, bytes: Uint8Array): Promise<unknown> {
  if (endpoint.body === undefined) {
    if (bytes.length === 0) return undefined;
    throw invalidBody('body: this endpoint takes none');
  }
  if (bytes.length === 0) {
    if (endpoint.bodyOptional) return undefined;
    throw invalidBody('body: required');
  }
  if (endpoint.multipart && /^multipart\/form-data\b/i.test(contentType))
    return readUpload(contentType, bytes);
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(contentType)) {
    throw invalidBody(`Content-Type: expected application/json, got ${contentType || 'none'}`);
  }
  return checkBody(endpoint.body, parseJson(bytes));
}
