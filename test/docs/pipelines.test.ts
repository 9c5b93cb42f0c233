import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { pipelines } from '../../src/ci/pipelines.ts';
import { root } from '../e2e/built.ts';

const page = readFileSync(join(root, 'docs/ci.md'), 'utf8');
const stands = { flags: '--project shop --process checkout', addressInFile: false };

/** The CIs whose store hands a secret over only to a step that names it. */
const namesSecrets = ['github', 'jenkins', 'azure', 'buildkite'];

describe.each(pipelines)('$title', (pipeline) => {
  it('the page shows the text that rungate init writes', () => {
    expect(page).toContain(
      `\`\`\`${pipeline.provider === 'jenkins' ? 'groovy' : 'yaml'}\n${pipeline.text(stands)}\`\`\`\n`,
    );
  });

  it.each([false, true])(
    'leaves to the project file what it says (its address: %j), and nothing else',
    (addressInFile) => {
      const text = pipeline.text({ flags: '', addressInFile });
      expect(text).not.toMatch(/--project|--process|shop/);
      expect(text).toMatch(/exec npx --yes rungate run trigger\s+--wait --strict --timeout 45m --junit /);
      if (namesSecrets.includes(pipeline.provider)) expect(text).toContain('RUNGATE_API_KEY');
      if (addressInFile) expect(text).not.toContain('RUNGATE_API_URL');
      // Without a checkout there is no project file to read.
      expect(text).not.toMatch(/checkout: none|enabled: false/);
      if (pipeline.provider !== 'jenkins') expect(parseYaml(text)).toBeTypeOf('object');
    },
  );
});
