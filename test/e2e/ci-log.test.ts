import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { installInto, start } from './built.ts';

let mock: MockServer;
beforeEach(async () => {
  mock = await startMock({ duration: 0, retryAfterSeconds: 0.1 });
});
afterEach(() => mock.close());

const gate = 'rungate run trigger --project shop --process checkout --wait';
const row = /^run_\w+\tpassed\t/m;
const line = /^✓ shop \/ checkout \(run run_\w+\) passed: /m;

/** Runs the step of a CI job as GitHub's runner does: a shell with a file, and a pipe for each stream. */
function step(script: string, env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-'));
  installInto(folder);
  writeFileSync(join(folder, 'step.sh'), `${script}\n`);
  const path = `${folder}/node_modules/.bin:${process.env.PATH}`;
  const service = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey, RUNGATE_TOKEN: mock.token };
  return start('bash', ['-eo', 'pipefail', 'step.sh'], { ...service, PATH: path, CI: 'true', ...env }, folder)
    .ended;
}

describe.runIf(process.platform === 'linux')('in the log of a CI job', () => {
  it.each([gate, `npx --no-install ${gate}`, `${gate} --quiet`, `(cd / && ${gate})`])(
    'a gate prints its lines, and no tab-separated values: %s',
    async (script) => {
      const ended = await step(script);
      expect(ended).toMatchObject({ code: 0, out: '' });
      expect(ended.err).toMatch(line);
    },
  );

  it('a list is a table', async () => {
    const { out } = await step('rungate env list --page-size 1');
    expect(out).toMatch(/^ID +NAME +KEY .*\n\S+ {2}Staging /);
  });
});

describe('a script of a CI job', () => {
  it.each([
    `result=$(${gate}); echo "$result"`,
    `result=$(npx --no-install ${gate} 2>/dev/null); echo "$result"`,
    `${gate} | cat`,
    `(cd / && ${gate}) | cat`,
    `${gate} > result; cat result`,
    `while read -r result; do echo "$result"; done < <(${gate})`,
  ])('reads tab-separated values: %s', async (script) => {
    expect((await step(script)).out).toMatch(row);
  });

  it('reads them outside of CI, too', async () => {
    expect((await step(gate, { CI: '' })).out).toMatch(row);
  });
});
