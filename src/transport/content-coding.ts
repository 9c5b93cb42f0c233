/**
 * Returns the body without its content coding, or `too large` if that exceeds the limit; null if the coding is unknown, or if
 * the body does not have it. Decoding stops at the limit, so a decompression bomb takes no more memory than that.
 * @param limit bytes
 */
export async function decodeContent(
  coding: string,
  body: Uint8Array,
  limit: number,
): Promise<Uint8Array | 'too large' | null> {
  if (body.length === 0) return null;
  // Loaded here, because hardly any response has a coding.
  const zlib = await import('node:zlib');
  // Some servers send `deflate` without the header of zlib.
  const isZlib = ((body[0] ?? 0) & 0x0f) === 8;
  const decoders: Readonly<Record<string, typeof zlib.gunzipSync>> = {
    gzip: zlib.gunzipSync,
    'x-gzip': zlib.gunzipSync,
    deflate: isZlib ? zlib.inflateSync : zlib.inflateRawSync,
    br: zlib.brotliDecompressSync,
  };
  const name = coding.trim().toLowerCase();
  if (!Object.hasOwn(decoders, name)) return null;
  try {
    return decoders[name]?.(body, { maxOutputLength: limit }) ?? null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : null;
  }
}
