import { createReadStream } from 'node:fs';

/** Four times Node's own: a large file is read at the rate of its disk, and the memory is still next to nothing. */
export const highWaterMark = 256 * 1024;

export function streamStdin(): AsyncIterable<Uint8Array> {
  return createReadStream('', { fd: 0, autoClose: false, highWaterMark });
}

export async function readStdin(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of streamStdin()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Asks a person for a line; null where nobody can be asked. */
export async function ask(question: string): Promise<string | null> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return null;
  const { createInterface } = await import('node:readline/promises');
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const interrupted = new AbortController();
  prompt.once('SIGINT', () => interrupted.abort());
  prompt.once('close', () => interrupted.abort());
  try {
    return await prompt.question(question, { signal: interrupted.signal });
  } catch {
    // Ctrl-C or Ctrl-D is an answer: none.
    process.stderr.write('\n');
    return '';
  } finally {
    prompt.close();
  }
}
