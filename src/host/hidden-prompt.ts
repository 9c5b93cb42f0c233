import type { ReadStream, WriteStream } from 'node:tty';
import { StoppedError } from '../errors.ts';

/**
 * Asks for a secret on a terminal; what is typed is not shown.
 * @throws StoppedError on Ctrl-C
 */
export async function askHidden(input: ReadStream, output: WriteStream, question: string): Promise<string> {
  const [{ createInterface }, { Writable }] = await Promise.all([
    import('node:readline'),
    import('node:stream'),
  ]);
  // readline shows what is typed by writing it, and this is where it writes.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input, output: nowhere, terminal: true, historySize: 0 });
  try {
    // Asked only now that the terminal itself has stopped showing what is typed.
    output.write(question);
    return await new Promise((resolve, reject) => {
      prompt.once('line', resolve);
      prompt.once('SIGINT', () => reject(new StoppedError('SIGINT')));
      prompt.once('close', () => resolve(''));
    });
  } finally {
    prompt.close();
    output.write('\n');
  }
}
