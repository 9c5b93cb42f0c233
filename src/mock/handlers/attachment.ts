import { createHash } from 'node:crypto';
import type { Upload } from '../body.ts';
import type { Attachment } from '../data/observations.ts';

function isUpload(file: unknown): file is Upload {
  return typeof file === 'object' && file !== null && 'bytes' in file && file.bytes instanceof Uint8Array;
}

/** The record of an attachment. Of a file it has what tells whether it came whole, and not the bytes. */
export function attachmentFrom(
  body: Readonly<Record<string, unknown>>,
  id: string,
  createdAt: string,
): Attachment {
  const { file } = body;
  if (!isUpload(file)) return { ...body, id, createdAt };
  const { name, type, bytes } = file;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { id, name, type, size: bytes.length, sha256, createdAt };
}
