import { describe, expect, it, onTestFinished } from 'vitest';
import { startMock } from '../../src/mock/server.ts';
import { inTerminal } from '../e2e/pty.ts';
import { folderWithSpace, onWindows, program, serviceEnv, windowsEnv, windowsPath } from './windows.ts';

const folder = folderWithSpace();
const trigger = ['run', 'trigger', '--project', 'shop', '--process', 'checkout', '--wait', '--json'];
const [file, first] = onWindows(...program);
const options = { command: [file, ...first], cwd: folder, columns: 120 };
/** The command that starts the program from itself. */
const self = [windowsPath(program[0]), ...program.slice(1)];

describe('Ctrl-C in a console', () => {
  it('cancels the run of a gate, which exits with 130', async () => {
    const mock = await startMock({ outcome: 'stuck', retryAfterSeconds: 1 });
    onTestFinished(() => mock.close());
    const console = inTerminal(trigger, windowsEnv(serviceEnv(mock)), options);
    await console.shows(/in_progress/);
    console.pty.write('\x03');
    expect(await console.ended).toBe(130);
    expect(console.raw()).toContain('"interruptedBy": "SIGINT"');
    expect([...mock.state.runs.values()].map((run) => run.cancelled?.reason)).toEqual([
      expect.stringContaining('SIGINT'),
    ]);
  });

  it('reaches the command of mock exec, which has the time to cancel its run', async () => {
    const mock = ['mock', 'exec', '--outcome', 'stuck', '--retry-after', '1', '--'];
    const console = inTerminal([...mock, ...self, ...trigger], windowsEnv(), options);
    await console.shows(/in_progress/);
    console.pty.write('\x03');
    expect(await console.ended).toBe(130);
    expect(console.raw()).toContain('"cancellation": "requested"');
  });
});
