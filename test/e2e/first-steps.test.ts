import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { textOf } from '../docs/pages.ts';
import { type ShellCommand, shellExamples } from '../docs/shell-examples.ts';
import { runExample } from '../docs/shell-stage.ts';
import { matches, stable } from '../docs/stable-output.ts';

const page = 'docs/first-steps.md';

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Waits for a condition of bash, 30 s at most. */
const until = (condition: string) =>
  `for turn in $(seq 300); do ${condition} && break; sleep 0.1; done; ${condition}`;

/** What the reader does besides pasting the command, as the page says between the blocks. */
function inOneScript(port: number): (command: ShellCommand, index: number) => ShellCommand {
  return (command, index) => {
    const log = `${index}.log`;
    const begin = index === 0 ? 'background=(); trap \'kill "${background[@]}" 2> /dev/null\' EXIT\n' : '';
    let text = begin + command.text.replaceAll('4020', String(port));
    // A terminal of its own, which stays open.
    if (command.untilStopped) {
      const at = text.includes('webhooks listen') ? ` --port ${port}` : '';
      const [line = ''] = text.split(' #');
      text = `${line.trimEnd()}${at} > ${log} 2>&1 & background+=($!)\n${until(`[ -s ${log} ]`)}`;
      // "paste the three lines that it prints"
      if (line.includes('mock serve')) text += `\neval "$(grep '^export ' ${log})"`;
    }
    if (text.includes('webhooks create'))
      text = `${text} > created.log; code=$?; cat created.log; (exit $code)`;
    // "the one that was shown"
    if (text.includes('whsec_example'))
      text = 'export RUNGATE_WEBHOOK_SECRET="$(grep -o "whsec_[[:alnum:]_-]*" created.log | head -n 1)"';
    // "Stop the listening", and "a copy of one of the files is capture.http"
    if (/^npx rungate run trigger (?!.*--wait)/m.test(text))
      text += `\n${until('[ "$(ls deliveries | wc -l)" -ge 2 ]')}\nkill "\${background[1]}" && cp "$(ls deliveries/* | head -n 1)" capture.http`;
    return { ...command, text, untilStopped: false };
  };
}

it('docs/first-steps.md works from its first command to its last, in one project and in order', async () => {
  const examples = shellExamples(page, textOf(page));
  const [first] = examples;
  if (first === undefined) throw new Error(`${page} has no commands`);
  const commands = examples.flatMap((example) => example.commands);
  const script = commands.map(inOneScript(await freePort()));
  const end = { line: 0, text: 'true', exits: 0, untilStopped: false, output: null };
  const { problem, printed } = await runExample({ ...first, commands: [...script, end], needs: [] });
  expect({ problem, printed }).toEqual({ problem: null, printed });
  for (const [index, { line, output }] of commands.entries()) {
    if (output === null) continue;
    const [shown, real] = [stable(output), stable(printed[index] ?? '')];
    if (!matches(shown, real)) expect(real, `${page}:${line}`).toBe(shown);
  }
}, 180_000);
