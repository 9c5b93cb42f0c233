import { clearLine, cursorTo, moveCursor } from 'node:readline';
import { Writable } from 'node:stream';
import type { Terminal } from '../src/host/sink.ts';

export interface FakeTerminal {
  terminal: Terminal;
  /** Everything that was written, with the line ends of a terminal. */
  written(): string;
  /** Changes the size, as when a user drags the window. */
  resize(columns: number, rows: number): void;
}

/** Creates a terminal stream that records what is written to it. */
export function fakeTerminal(columns: number, rows: number): FakeTerminal {
  let written = '';
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      written += String(chunk).replace(/\n/g, '\r\n');
      done();
    },
  });
  const terminal = Object.assign(stream, {
    isTTY: true,
    columns,
    rows,
    clearLine: (direction: -1 | 0 | 1) => clearLine(stream, direction),
    cursorTo: (x: number) => cursorTo(stream, x),
    moveCursor: (dx: number, dy: number) => moveCursor(stream, dx, dy),
  }) as unknown as Terminal;
  return {
    terminal,
    written: () => written,
    resize(wide, high) {
      Object.assign(terminal, { columns: wide, rows: high });
      terminal.emit('resize');
    },
  };
}
