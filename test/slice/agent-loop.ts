/** The end of a command in a shell. */
export interface Called {
  /** Null if the shell stopped the command. */
  code: number | null;
  /** Standard output. */
  out: string;
  /** Standard error, if it is known. */
  err?: string;
}

export interface Loop extends Called {
  /** The number of commands. */
  calls: number;
}

type Call = (command: readonly string[]) => Promise<Called>;

const waiting = 75;

function nextIn(out: string): readonly string[] | undefined {
  try {
    return JSON.parse(out).next;
  } catch {
    return undefined;
  }
}

/**
 * Holds a gate as a simple agent does: while the exit code is 75 it runs the command in `next`, and it repeats the last command
 * that it knows if the shell stopped one. It knows nothing else.
 */
export async function agentLoop(first: readonly string[], call: Call): Promise<Loop> {
  let command = first;
  for (let calls = 1; ; calls += 1) {
    const called = await call(command);
    if (called.code !== null && called.code !== waiting) return { ...called, calls };
    const next = nextIn(called.out);
    if (called.code === waiting && next === undefined)
      throw new Error(`exit code ${waiting} without next: ${called.out}`);
    command = next ?? command;
  }
}

/** Repeats the same command until it ends, up to a number of times, as an agent does with a command that it does not know. */
export async function repeat(command: readonly string[], call: Call, times: number): Promise<Loop> {
  for (let calls = 1; ; calls += 1) {
    const called = await call(command);
    if (called.code !== null || calls === times) return { ...called, calls };
  }
}
