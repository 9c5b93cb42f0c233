import { UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';

/** A file as a `multipart/form-data` body with one part, `file`. */
export async function attachmentOf(io: Io, path: string): Promise<{ body: Uint8Array; contentType: string }> {
  let bytes: Uint8Array;
  try {
    bytes = io.readFile(path);
  } catch (cause) {
    throw new UsageError(`--file: ${path} cannot be read`, {
      hint: 'check the path and the permissions',
      cause,
    });
  }
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(bytes)]), path.split(/[\\/]/).at(-1) ?? 'file');
  // The runtime writes the body, so that names and boundaries are escaped as every server expects.
  const encoded = new Response(form);
  return {
    body: new Uint8Array(await encoded.arrayBuffer()),
    contentType: encoded.headers.get('content-type') ?? 'multipart/form-data',
  };
}
