import type { Io } from '../host/io.ts';

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'dim' | 'bold';

/** Whether to colour output: by NO_COLOR and FORCE_COLOR, else if it is a terminal that supports colours. */
export function wantsColor(env: Io['env'], isTTY: boolean): boolean {
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') {
    return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  }
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
  return isTTY && env.TERM !== 'dumb';
}

type Painter = (tone: Tone, text: string) => string;

/** Returns a function that colours text for standard error, or returns it unchanged if `color` is false. */
export async function painter(color: boolean): Promise<Painter> {
  if (!color) return (_tone, text) => text;
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level: 1 });
  const tones: Record<Tone, (text: string) => string> = {
    good: chalk.green,
    bad: chalk.red,
    warn: chalk.yellow,
    busy: chalk.cyan,
    dim: chalk.dim,
    bold: chalk.bold,
  };
  return (tone, text) => tones[tone](text);
}
