/** A terminal, for output that is redrawn in place. */
export type Terminal = NodeJS.WriteStream;

export interface Sink {
  readonly isTTY: boolean;
  /** Width in columns if it is a terminal of known width. */
  readonly columns: number | undefined;
  /** False once the reader has closed the stream: further writes are pointless. */
  readonly open: boolean;
  /** The error of a failed write, unless the reader simply closed the stream. */
  readonly failure: Error | null;
  /**
   * Resolves on standard output once the text is handed over or its reader has stopped reading, so that a slow reader slows
   * rungate down; on standard error at once.
   */
  write(text: string): Promise<void>;
  /** Set if it is a terminal. */
  readonly terminal?: Terminal;
}

interface StreamSink extends Sink {
  /** Shortens the patience to a second, since the process is to end. */
  hurry(): void;
  /** Resolves to true once everything is handed over or the stream is closed, to false if its reader has stopped reading. */
  flushed(): Promise<boolean>;
}

interface SinkOptions {
  /** Whether it is standard output, where a text that is dropped is a failure. */
  isResult: boolean;
  /** How long the reader may take nothing; 0 means no limit. */
  patienceMs: number;
}

/** How much text may wait for a reader, in characters. */
const mostWaiting = 1024 * 1024;

/**
 * Returns a sink for a stream of the process, which stays usable while the stream is not read: a write never blocks, the text
 * that waits is limited, and the rest is dropped.
 */
export function streamSink(stream: NodeJS.WriteStream, { isResult, patienceMs }: SinkOptions): StreamSink {
  let open = true;
  let failure: Error | null = null;
  let stalled = false;
  let dropped = 0;
  const waiting = new Set<(delivered: boolean) => void>();
  const fail = (error: NodeJS.ErrnoException) => {
    open = false;
    // A reader may close the pipe early: `rungate … | head` is not an error.
    if (error.code !== 'EPIPE' && error.code !== 'EOF') failure ??= error;
  };
  stream.on('error', fail);
  // Node emits this if no byte has been written for that long.
  stream.on('timeout', () => {
    if (stream.writableLength === 0) return;
    stalled = true;
    if (isResult) failure ??= new Error('its reader has stopped reading');
    for (const settle of waiting) settle(false);
  });
  const deliver = (text: string) =>
    new Promise<boolean>((resolve) => {
      const settle = (delivered: boolean) => {
        waiting.delete(settle);
        resolve(delivered);
      };
      waiting.add(settle);
      stream.write(text, (error) => {
        stalled = false;
        // The callback comes before the stream's error event.
        if (error) fail(error);
        settle(true);
        if (dropped === 0 || stream.writableLength > 0) return;
        stream.write(`rungate dropped ${dropped} messages here, because standard error was not read\n`);
        dropped = 0;
      });
    });
  // Files have no timeout.
  stream.setTimeout?.(patienceMs);
  const hurry = () => void stream.setTimeout?.(1_000);
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
    async write(text) {
      if (!open || text === '') return;
      if (stream.writableLength > mostWaiting || (isResult && stalled)) {
        if (isResult) failure ??= new Error('its reader is too slow');
        else dropped += 1;
      } else {
        const delivered = deliver(text);
        if (isResult) await delivered;
      }
    },
    hurry,
    async flushed() {
      if (!open || stream.writableLength === 0) return true;
      if (stalled) hurry();
      return deliver('');
    },
    ...(stream.isTTY ? { terminal: stream } : {}),
  };
}
