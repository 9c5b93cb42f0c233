import { describe, expect, it } from 'vitest';
import { pages, textOf } from '../docs/pages.ts';
import { shellExamples } from '../docs/shell-examples.ts';
import { runExample } from '../docs/shell-stage.ts';
import { matches, stable } from '../docs/stable-output.ts';

const examples = pages.flatMap((page) => shellExamples(page, textOf(page)));
const named = examples
  .filter(({ notRun }) => notRun === null)
  .map((example) => [`${example.page}:${example.line}`, example] as const);

describe('an example prints what the page shows', () => {
  it.concurrent.each(named)('%s', async (_place, example) => {
    const { problem, printed } = await runExample(example);
    expect({ problem, printed }).toEqual({ problem: null, printed });
    for (const [index, { line, output }] of example.commands.entries()) {
      if (output === null) continue;
      const [shown, real] = [stable(output), stable(printed[index] ?? '')];
      if (!matches(shown, real)) expect(real, `${example.page}:${line}`).toBe(shown);
    }
  });
});
