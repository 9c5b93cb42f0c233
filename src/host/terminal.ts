export interface Size {
  columns: number;
  rows: number;
}

/** A terminal, for what is drawn in place. */
export interface Terminal {
  size(): Size;
  /** Calls back after each change of size; the returned function ends that. */
  onResize(listener: () => void): () => void;
  /**
   * All that is written by others from now on goes to the one that holds the terminal, whoever writes it: us, Node's
   * own warnings, a library. The returned function gives the terminal back.
   */
  hold(others: (text: string) => Promise<void>): () => void;
  /** Writes past the one that holds it. Done when it returns where the system lets us write at once. */
  draw(text: string): Promise<void>;
}

/** How a stream takes text. */
export type Write = (text: string, done: (error?: Error | null) => void) => unknown;

/** Terminals that do not know their size say 0. */
const usual: Size = { columns: 80, rows: 24 };

/** The terminal behind a stream of the process; `writeTo` writes by a given function of it. */
export function terminalOf(
  stream: NodeJS.WriteStream,
  writeTo: (write: Write, text: string) => Promise<void>,
): Terminal {
  const { write } = stream;
  return {
    size: () => ({ columns: stream.columns || usual.columns, rows: stream.rows || usual.rows }),
    onResize(listener) {
      stream.on('resize', listener);
      return () => void stream.off('resize', listener);
    },
    hold(others) {
      const held = (chunk: unknown, encoding?: unknown, done?: unknown) => {
        const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString();
        const told = [encoding, done].find((one) => typeof one === 'function') as (() => void) | undefined;
        void others(text).then(told);
        return true;
      };
      stream.write = held;
      return () => {
        stream.write = write;
      };
    },
    draw: (text) => writeTo(write, text),
  };
}
