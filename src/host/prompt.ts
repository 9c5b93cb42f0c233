import type { ReadStream, WriteStream } from 'node:tty';
import { StoppedError } from '../errors.ts';

/** Whether a person types at standard input. Not asked of `process.stdin`: see below what that does to it. */
const isTerminal = () => process.getBuiltinModule('node:tty').isatty(0);

/**
 * Asks for a secret on a terminal; what is typed is not shown.
 * @throws StoppedError on Ctrl-C
 */
async function askHidden(input: ReadStream, output: WriteStream, question: string): Promise<string> {
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

/**
 * Asks a person for a line; null where nobody can be asked.
 * @throws StoppedError on Ctrl-C
 */
export async function ask(question: string): Promise<string | null> {
  if (!isTerminal() || !process.stderr.isTTY) return null;
  const { createInterface } = await import('node:readline/promises');
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const interrupted = new AbortController();
  let stopped = false;
  prompt.once('SIGINT', () => {
    stopped = true;
    interrupted.abort();
  });
  prompt.once('close', () => interrupted.abort());
  try {
    return await prompt.question(question, { signal: interrupted.signal });
  } catch {
    process.stderr.write('\n');
    if (stopped) throw new StoppedError('SIGINT');
    // Ctrl-D is an answer: none.
    return '';
  } finally {
    prompt.close();
  }
}

/** Asks a person for a secret, which is not shown; null where nobody types. @throws StoppedError on Ctrl-C */
export async function askSecret(question: string): Promise<string | null> {
  return isTerminal() ? askHidden(process.stdin, process.stderr, question) : null;
}
