import xterm from '@xterm/headless';

/** A terminal's screen, by the emulator of VS Code: what a person would see of what was written. */
export interface TestScreen {
  write(text: string): Promise<void>;
  resize(columns: number, rows: number): void;
  /** The rows that hold something, from the first that was ever written, those that have scrolled away included. */
  lines(): string[];
  cursor(): { row: number; column: number };
  /** Rows of the screen itself, as drawn: colours are in the cells. */
  readonly terminal: InstanceType<typeof xterm.Terminal>;
}

export function testScreen(columns: number, rows: number): TestScreen {
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 5000, allowProposedApi: true });
  return {
    terminal,
    write: (text) => new Promise((resolve) => terminal.write(text, resolve)),
    resize: (cols, height) => terminal.resize(cols, height),
    lines() {
      const { active } = terminal.buffer;
      const lines: string[] = [];
      for (let at = 0; at < active.length; at += 1) {
        const line = active.getLine(at);
        const text = line?.translateToString(true) ?? '';
        // A line that the terminal has broken is one line still.
        if (line?.isWrapped) lines.push((lines.pop() ?? '') + text);
        else lines.push(text);
      }
      while (lines.at(-1) === '') lines.pop();
      return lines;
    },
    cursor: () => ({
      row: terminal.buffer.active.baseY + terminal.buffer.active.cursorY,
      column: terminal.buffer.active.cursorX,
    }),
  };
}
