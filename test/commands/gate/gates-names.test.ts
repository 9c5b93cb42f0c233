import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { type Build, builds, runBuild, type Shown } from './gates-builds.ts';

const results: Readonly<Record<string, Shown['result']>> = {
  failure: 'failed',
  error: 'broken',
  skipped: 'skipped',
};

/** Returns the suite, the class name and the name of each case, what the case shows, and the ids of the runs. */
function read(xml: string) {
  const parser = new SaxesParser();
  const names: string[][] = [];
  const shown: Required<Shown>[] = [];
  const ids: string[] = [];
  let suite = '';
  parser.on('opentag', ({ name, attributes }) => {
    const result = results[name];
    const last = shown.at(-1);
    if (name === 'testsuite') suite = attributes.name ?? '';
    if (name === 'property' && attributes.name?.endsWith('.runId')) ids.push(attributes.value ?? '');
    if (name === 'testcase') {
      names.push([suite, attributes.classname ?? '', attributes.name ?? '']);
      shown.push({ result: 'passed', retries: 0 });
    }
    if (last !== undefined && result !== undefined) last.result = result;
    if (last !== undefined && /^(flaky|rerun)/.test(name)) last.retries += 1;
  });
  parser.write(xml).close();
  return { names, shown, ids };
}

describe.each(Object.entries(builds))('a build %s', (_name, build: Build) => {
  it('has the names of every other build, and shows how each gate ended', async () => {
    const [one, other] = [await runBuild(build, 1), await runBuild(build, 2)];
    const [first, second] = [read(one.junit), read(other.junit)];
    expect(first.names).toEqual([
      ['smoke', 'shop.smoke', 'smoke: shop / smoke'],
      ['web', 'shop.web+slow', 'web: shop / web, slow'],
      ['perf', 'shop.perf', 'perf: shop / perf'],
    ]);
    expect(second.names).toEqual(first.names);
    expect(second.ids.filter((id) => first.ids.includes(id))).toEqual([]);
    expect(first.shown).toEqual(build.shown.map((shown) => ({ retries: 0, ...shown })));
    expect(JSON.parse(one.json).gates).toMatchObject([{ name: 'smoke' }, { name: 'web' }, { name: 'perf' }]);
  });
});
