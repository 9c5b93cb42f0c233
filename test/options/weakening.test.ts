import { expect, it, onTestFinished } from 'vitest';
import { resolvePolicy, settableVerdicts } from '../../src/gate/policy.ts';
import { flagName, optionIds, rowOf } from '../../src/options/table.ts';
import { stage, trigger } from '../cli/harness.ts';
import { textOf } from '../docs/pages.ts';

const weakening = optionIds.filter((id) => rowOf(id).weakens === true);
const page = textOf('docs/reference/settings.md');
const security = page.slice(page.indexOf('**For branches that you do not trust**'));
const advice = security.slice(0, security.indexOf('The other risk'));

/** A value of each option, as a project file has it. */
const lax: Record<string, unknown> = {
  retries: 5,
  strict: false,
  on: { failed: 'warn' },
  'deployed.pointer': '/version',
  'deployed.is': '1.2.3',
  'receipt.subjects': [`app@sha256:${'0'.repeat(64)}`],
};

it.each(weakening)('the command for untrusted branches sets %s, which can make a gate laxer', (id) => {
  const row = rowOf(id);
  expect(advice).toContain(row.file === 'only gate' ? id : flagName(row));
});

it('the command for untrusted branches fails on every verdict that a strict gate does not pass', () => {
  const strict = resolvePolicy({ strict: true });
  for (const verdict of settableVerdicts.filter((each) => strict[each] === 'fail')) {
    expect(advice).toContain(`--on ${verdict}=fail`);
  }
});

it.each(weakening.filter((id) => rowOf(id).file !== 'only gate'))(
  'run trigger without a wait warns in CI that no gate uses %s',
  async (id) => {
    const [name = '', member] = id.split('.');
    const settings = { [name]: member === undefined ? lax[id] : { [member]: lax[id] } };
    const on = await stage({ outcome: 'passed', duration: 1000 });
    onTestFinished(() => on.close());
    const files = { '/repo/.git': '', '/repo/.rungate.json': JSON.stringify(settings) };
    const { err } = await on.with({ env: { CI: 'true' }, cwd: '/repo', files })(...trigger);
    expect(err).toContain(`no gate uses these settings: ${id} (`);
  },
);
