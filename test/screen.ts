import xterm from '@xterm/headless';

/** The screen of a terminal as a person would see it, by the terminal emulator of VS Code. */
export interface TestScreen {
  write(text: string): Promise<void>;
  resize(columns: number, rows: number): void;
  /** All lines up to the last non-empty one, including those that have scrolled off the screen. */
  lines(): string[];
  cursor(): { row: number; column: number };
  /** The emulator, whose cells have the colours. */
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
        // Join the rows of a wrapped line.
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
