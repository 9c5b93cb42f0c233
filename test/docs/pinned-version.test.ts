import { expect, it } from 'vitest';
import { pages, textOf } from './pages.ts';

/** A shell line of a pipeline: it replaces the job's shell, or confirms npx's question in advance. */
const pipelineLine = /(?:exec npx|npx --yes) .*/g;

it.each([...pages, 'templates/gitlab/rungate.yml'])(
  '%s has no pipeline that runs the newest rungate',
  (path) => {
    const lines = [...textOf(path).matchAll(pipelineLine)].map(([line]) => line);
    // docs/how-to/ci.md warns against this form.
    const loose = lines.filter(
      (line) => !/^(?:exec )?npx (?:--yes ("\$RUNGATE_PACKAGE"|[@\w/]+@[\d<])|--no-install )/.test(line),
    );
    expect(loose).toEqual(
      path === 'docs/how-to/ci.md' ? [expect.stringContaining('npx --yes rungate` runs the newest')] : [],
    );
  },
);
