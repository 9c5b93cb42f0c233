import type { Interface } from 'node:readline';
import { StoppedError } from '../errors.ts';

/** Returns whether standard input is a terminal. Touching `process.stdin` would make it non-blocking: see `read-file.ts`. */
const isTerminal = () => process.getBuiltinModule('node:tty').isatty(0);

/** Returns the typed line; undefined if the input ends, as on Ctrl-D. @throws StoppedError on Ctrl-C */
async function typedLine(prompt: Interface, isEchoed: boolean): Promise<string | undefined> {
  let isEnded = false;
  try {
    return await new Promise((resolve, reject) => {
      prompt.once('line', (line) => {
        isEnded = isEchoed;
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

/** Prompts for a line. Returns null without a terminal, undefined if the input ends. @throws StoppedError on Ctrl-C */
export async function ask(question: string): Promise<string | null | undefined> {
  if (!isTerminal() || !process.stderr.isTTY) return null;
  const { createInterface } = await import('node:readline');
  const prompt = createInterface({ input: process.stdin, output: process.stderr, prompt: question });
  prompt.prompt();
  return typedLine(prompt, true);
}

/** Prompts for a secret without echoing it. Returns null without a terminal, '' if the input ends. @throws StoppedError on Ctrl-C */
export async function askSecret(question: string): Promise<string | null> {
  if (!isTerminal()) return null;
  const [{ createInterface }, { Writable }] = await Promise.all([
    import('node:readline'),
    import('node:stream'),
  ]);
  // readline echoes the input to its output.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 });
  // Only now has the terminal itself stopped echoing.
  process.stderr.write(question);
  return (await typedLine(prompt, false)) ?? '';
}
