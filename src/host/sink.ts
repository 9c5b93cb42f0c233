/** A terminal, for output that is redrawn in place. */
export type Terminal = NodeJS.WriteStream;

/** An output for text. `write` resolves once the text is handed over, so that a slow reader slows rungate down. */
export interface Sink {
  readonly isTTY: boolean;
  /** Width in columns if it is a terminal of known width. */
  readonly columns: number | undefined;
  /** False once the reader has closed the stream: further writes are pointless. */
  readonly open: boolean;
  /** The error of a failed write, unless the reader simply closed the stream. */
  readonly failure: Error | null;
  write(text: string): Promise<void>;
  /** Set if it is a terminal. */
  readonly terminal?: Terminal;
}

/** Returns a sink for a stream of the process. */
export function streamSink(stream: NodeJS.WriteStream): Sink {
  let open = true;
  let failure: Error | null = null;
  const fail = (error: NodeJS.ErrnoException) => {
    open = false;
    // A reader may close the pipe early: `rungate … | head` is not an error.
    if (error.code !== 'EPIPE' && error.code !== 'EOF') failure ??= error;
  };
  stream.on('error', fail);
  return {
    isTTY: Boolean(stream.isTTY),
    get columns() {
      // A terminal without a size reports 0 columns.
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
              // The callback comes before the stream's error event.
              if (error) fail(error);
              resolve();
            });
          })
        : Promise.resolve(),
    ...(stream.isTTY ? { terminal: stream } : {}),
  };
}
