import type { FileContent, FileUpload } from '../contract/service-types.ts';
import { UsageError } from '../errors.ts';

/** By their tags: a test runner may have classes of its own for them. */
function isContent(value: unknown): value is FileContent {
  return /^\[object (Uint8Array|ArrayBuffer|Blob|File)\]$/.test(Object.prototype.toString.call(value));
}

/** What a body says of a file; null where it is fields, which go out as JSON. */
function uploadIn(name: string, body: unknown): FileUpload | null {
  if (isContent(body)) return { file: body };
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, 'file')) return null;
  const upload: Record<string, unknown> = { ...body };
  if (!isContent(upload.file)) return null;
  const wrong = Object.keys(upload).find((key) => {
    if (key === 'file') return false;
    return !['name', 'type'].includes(key) || !['string', 'undefined'].includes(typeof upload[key]);
  });
  if (wrong === undefined) return upload as unknown as FileUpload;
  throw new UsageError(`${name}: ${wrong} cannot be sent with a file`, {
    hint: 'a file goes out as { file, name, type }: the name and the media type are text, and other fields have no place',
  });
}

async function bytesOf(name: string, file: FileContent): Promise<Uint8Array<ArrayBuffer>> {
  try {
    // The copy is what every attempt sends, whatever the caller does with the original.
    return new Uint8Array('arrayBuffer' in file ? await file.arrayBuffer() : file);
  } catch (cause) {
    throw new UsageError(`${name}: the file cannot be read`, { cause });
  }
}

/** A file as a `multipart/form-data` body with one part, `file`; null where the body is fields. */
export async function encodeUpload(
  name: string,
  body: unknown,
): Promise<{ body: Uint8Array; contentType: string } | null> {
  const upload = uploadIn(name, body);
  if (upload === null) return null;
  const { file } = upload;
  const own: { name?: unknown; type?: unknown } = 'arrayBuffer' in file ? file : {};
  const type = upload.type ?? (typeof own.type === 'string' ? own.type : '');
  const fileName = upload.name ?? (typeof own.name === 'string' ? own.name : 'file');
  const form = new FormData();
  form.set('file', new Blob([await bytesOf(name, file)], { type }), fileName);
  // The runtime writes the body, so that names and boundaries are escaped as every server expects.
  const encoded = new Response(form);
  return {
    body: new Uint8Array(await encoded.arrayBuffer()),
    contentType: encoded.headers.get('content-type') ?? 'multipart/form-data',
  };
}
