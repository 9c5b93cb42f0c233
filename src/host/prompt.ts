import type { Interface } from 'node:readline';
import { StoppedError } from '../errors.ts';

/** Whether a person types at standard input. Asking `process.stdin` would make it non-blocking: see `read-file.ts`. */
const isTerminal = () => process.getBuiltinModule('node:tty').isatty(0);

/** Returns the line that is typed; undefined if the input ends, as on Ctrl-D. @throws StoppedError on Ctrl-C */
async function typedLine(prompt: Interface, isShown: boolean): Promise<string | undefined> {
  let isEnded = false;
  try {
    return await new Promise((resolve, reject) => {
      prompt.once('line', (line) => {
        isEnded = isShown;
        resolve(line);
      });
      prompt.once('SIGINT', () => reject(new StoppedError('SIGINT')));
      prompt.once('close', () => resolve(undefined));
    });
  } finally {
    prompt.close();
    if (!isEnded) process.stderr.write('\n');
  }
}

export async function ask(question: string): Promise<string | null | undefined> {
  if (!isTerminal() || !process.stderr.isTTY) return null;
  const { createInterface } = await import('node:readline');
  const prompt = createInterface({ input: process.stdin, output: process.stderr, prompt: question });
  prompt.prompt();
  return typedLine(prompt, true);
}

export async function askSecret(question: string): Promise<string | null> {
  if (!isTerminal()) return null;
  const [{ createInterface }, { Writable }] = await Promise.all([
    import('node:readline'),
    import('node:stream'),
  ]);
  // readline shows what is typed by writing it, and this is where it writes.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 });
  // Asked only now that the terminal itself has stopped showing what is typed.
  process.stderr.write(question);
  return (await typedLine(prompt, false)) ?? '';
}
