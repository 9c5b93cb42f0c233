/** A terminal, for what is drawn in place. */
export type Terminal = NodeJS.WriteStream;

/** Where text goes. `write` resolves once the text is handed over, so that a slow reader slows us down. */
export interface Sink {
  readonly isTTY: boolean;
  /** Width in columns, where it is a terminal. */
  readonly columns: number | undefined;
  /** False once the reader has gone away: there is no use in writing more. */
  readonly open: boolean;
  /** Why the text could not be handed over, where it is not simply that the reader has gone away. */
  readonly failure: Error | null;
  write(text: string): Promise<void>;
  /** Where it is a terminal. */
  readonly terminal?: Terminal;
}

/** A sink over a stream of the process. */
export function streamSink(stream: NodeJS.WriteStream): Sink {
  let open = true;
  let failure: Error | null = null;
  const fail = (error: NodeJS.ErrnoException) => {
    open = false;
    // A reader that closes the pipe has what it wanted: `rungate … | head` is no error.
    if (error.code !== 'EPIPE' && error.code !== 'EOF') failure ??= error;
  };
  stream.on('error', fail);
  return {
    isTTY: Boolean(stream.isTTY),
    get columns() {
      // A terminal that nobody has given a size says 0, and means that it does not know.
      return stream.columns === 0 ? undefined : stream.columns;
    },
    get open() {
      return open;
    },
    get failure() {
      return failure;
    },
    write: (text) =>
      open && text !== ''
        ? new Promise((resolve) => {
            stream.write(text, (error) => {
              // Known here before the stream says so: what was written did not arrive.
              if (error) fail(error);
              resolve();
            });
          })
        : Promise.resolve(),
    ...(stream.isTTY ? { terminal: stream } : {}),
  };
}
