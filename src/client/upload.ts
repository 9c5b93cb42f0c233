import type { FileContent, FileUpload } from '../contract/types.ts';
import { UsageError } from '../errors.ts';

/** Identified by tag, because a test runner may have its own classes. */
function isContent(value: unknown): value is FileContent {
  return (
    ArrayBuffer.isView(value) ||
    /^\[object (ArrayBuffer|Blob|File)\]$/.test(Object.prototype.toString.call(value))
  );
}

function uploadProblem(key: string, value: unknown): string | null {
  if (!['name', 'type'].includes(key)) return `${key} cannot be sent with a file`;
  if (!['string', 'undefined'].includes(typeof value))
    return `${key} must be text, not ${value === null ? 'null' : typeof value}`;
  return key === 'name' && value === '' ? 'name must not be empty' : null;
}

/** Returns the file in a body, or null for fields, which are sent as JSON. */
function uploadIn(name: string, body: unknown): FileUpload | null {
  if (isContent(body)) return { file: body };
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, 'file')) return null;
  const upload: Record<string, unknown> = { ...body };
  if (!isContent(upload.file)) return null;
  const problem = Object.keys(upload)
    .filter((key) => key !== 'file')
    .map((key) => uploadProblem(key, upload[key]))
    .find((text) => text !== null);
  if (problem === undefined) return upload as unknown as FileUpload;
  throw new UsageError(`${name}: ${problem}`, {
    hint: 'pass a file as { file, name, type }, where name and type (the media type) are text; other fields are not allowed',
  });
}

async function bytesOf(name: string, file: FileContent): Promise<Uint8Array<ArrayBuffer>> {
  try {
    // Every request sends the copy, whatever the caller does with the original.
    if ('arrayBuffer' in file) return new Uint8Array(await file.arrayBuffer());
    if (!ArrayBuffer.isView(file)) return new Uint8Array(file).slice();
    return new Uint8Array(new Uint8Array(file.buffer, file.byteOffset, file.byteLength));
  } catch (cause) {
    throw new UsageError(`${name}: the file cannot be read`, { cause });
  }
}

/** Returns a file as a `multipart/form-data` body with one part, `file`; null if the body has fields instead. */
export async function encodeUpload(
  name: string,
  body: unknown,
): Promise<{ body: Uint8Array; contentType: string } | null> {
  const upload = uploadIn(name, body);
  if (upload === null) return null;
  const { file } = upload;
  const blob: { name?: unknown; type?: unknown } = 'arrayBuffer' in file ? file : {};
  const type = upload.type ?? (typeof blob.type === 'string' ? blob.type : '');
  const fileName = upload.name ?? (typeof blob.name === 'string' && blob.name !== '' ? blob.name : 'file');
  const form = new FormData();
  form.set('file', new Blob([await bytesOf(name, file)], { type }), fileName);
  // The runtime writes the body, so names and boundaries are escaped as servers expect.
  const encoded = new Response(form);
  return {
    body: new Uint8Array(await encoded.arrayBuffer()),
    contentType: encoded.headers.get('content-type') ?? 'multipart/form-data',
  };
}
