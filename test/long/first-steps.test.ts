import { expect, it } from 'vitest';
import { textOf } from '../docs/pages.ts';
import { type ShellCommand, shellExamples } from '../docs/shell-examples.ts';
import { runExample } from '../docs/shell-stage.ts';
import { matches, stable } from '../docs/stable-output.ts';
import { freePort } from '../free-port.ts';

const startPages = ['docs/start/first-steps.md', 'docs/start/webhooks.md'];

/** Waits up to 30 s for a condition in bash. */
const until = (condition: string) =>
  `for attempt in $(seq 300); do ${condition} && break; sleep 0.1; done; ${condition}`;

/** Adds the steps that the page describes between the blocks. */
function withManualSteps(port: number): (command: ShellCommand, index: number) => ShellCommand {
  return (command, index) => {
    const log = `${index}.log`;
    const begin = index === 0 ? 'background=(); trap \'kill "${background[@]}" 2> /dev/null\' EXIT\n' : '';
    let text = begin + command.text.replaceAll('4020', String(port));
    // The page opens another terminal, which stays open.
    if (command.untilStopped) {
      const portOption = text.includes('webhooks listen') ? ` --port ${port}` : '';
      const [line = ''] = text.split(' #');
      text = `${line.trimEnd()}${portOption} > ${log} 2>&1 & background+=($!)\n${until(`[ -s ${log} ]`)}`;
      // "paste the three lines that it prints"
      if (line.includes('mock serve')) text += `\neval "$(grep '^export ' ${log})"`;
    }
    if (text.includes('webhooks create'))
      text = `${text} > created.log; code=$?; cat created.log; (exit $code)`;
    // "the secret that it showed"
    if (text.includes('whsec_example'))
      text = 'export RUNGATE_WEBHOOK_SECRET="$(grep -o "whsec_[[:alnum:]_-]*" created.log | head -n 1)"';
    // "Stop the listening", and "a copy of one of the files is capture.http"
    if (/^npx rungate run trigger (?!.*--wait)/m.test(text))
      text += `\n${until('[ "$(ls deliveries | wc -l)" -ge 2 ]')}\nkill "\${background[1]}" && cp "$(ls deliveries/* | head -n 1)" capture.http`;
    return { ...command, text, untilStopped: false };
  };
}

it.each(startPages)('every command of %s works, in order and in one project', async (page) => {
  const examples = shellExamples(page, textOf(page)).filter(({ notRun }) => notRun === null);
  const [first] = examples;
  if (first === undefined) throw new Error(`${page} has no commands`);
  const commands = examples.flatMap((example) => example.commands);
  const script = commands.map(withManualSteps(await freePort()));
  const end = { line: 0, text: 'true', exits: 0, untilStopped: false, output: null };
  const { problem, printed } = await runExample({ ...first, commands: [...script, end], needs: [] });
  expect({ problem, printed }).toEqual({ problem: null, printed });
  for (const [index, { line, output }] of commands.entries()) {
    if (output === null) continue;
    const [shown, real] = [stable(output), stable(printed[index] ?? '')];
    if (!matches(shown, real)) expect(real, `${page}:${line}`).toBe(shown);
  }
});
