import type { Endpoint } from '../contract/endpoint.ts';
import { MockError } from './error.ts';
import { describeProblems } from './problems.ts';

/** The part `file` of a multipart body, as handlers get it. */
export interface Upload {
  name: string;
  type: string;
  bytes: Uint8Array;
}

const invalid = (details: string) => new MockError(422, 'Invalid request body', details);

async function readUpload(contentType: string, bytes: Uint8Array): Promise<{ file: Upload }> {
  let form: FormData;
  try {
    form = await new Response(bytes, { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw new MockError(400, 'The body is not multipart/form-data', 'body: could not be taken apart');
  }
  const file = form.get('file');
  if (file === null || typeof file === 'string') throw invalid('body.file: required, as a file part');
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
    throw invalid('body: this endpoint takes none');
  }
  if (bytes.length === 0) {
    if (endpoint.bodyOptional) return undefined;
    throw invalid('body: required');
  }
  if (endpoint.multipart && /^multipart\/form-data\b/i.test(contentType))
    return readUpload(contentType, bytes);
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(contentType)) {
    throw invalid(`Content-Type: expected application/json, got ${contentType || 'none'}`);
  }
  const value = parseJson(bytes);
  const result = endpoint.body.safeParse(value);
  if (result.success) return result.data;
  throw invalid(describeProblems('body', value, result.error.issues));
}
