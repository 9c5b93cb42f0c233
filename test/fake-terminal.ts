import { clearLine, cursorTo, moveCursor } from 'node:readline';
import { Writable } from 'node:stream';
import type { Terminal } from '../src/host/sink.ts';

export interface FakeTerminal {
  terminal: Terminal;
  /** All that came, with the line ends of a terminal. */
  written(): string;
  /** As when somebody drags the window. */
  resize(columns: number, rows: number): void;
}

/** A terminal stream that keeps what it is given. */
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
