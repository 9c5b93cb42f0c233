import { afterEach, describe, expect, it } from 'vitest';
import { type Stage, stage, trigger } from './harness.ts';

let on: Stage;
afterEach(() => on?.close());

const hostile =
  '\u001b[2J\u202e::error::pwned\n::error::pwned\n##vso[task.complete result=Succeeded]##teamcity[x]\u0085';

describe('text from the service cannot control a terminal or a CI system', () => {
  async function everything(text: string) {
    on = await stage({ outcome: 'failed', duration: 0 });
    const status = { state: 'completed', failed: 1, blocked: 0, appUrl: text };
    on.mock.faults.add({
      kind: 'reply',
      text: JSON.stringify({ runId: 'r1', appUrl: text }),
      endpoint: 'run.trigger',
    });
    on.mock.faults.add({ kind: 'reply', text: JSON.stringify({ state: text }), endpoint: 'run.status' });
    on.mock.faults.add({ kind: 'reply', text: JSON.stringify(status), endpoint: 'run.status' });
    const plain = await on.rungate(...trigger, '--wait', '--verbose');
    on.mock.faults.add({
      kind: 'status',
      status: 400,
      body: { error: text, details: text },
      endpoint: 'run.status',
    });
    const refused = await on.rungate('run', 'status', 'x');
    on.mock.faults.add({
      kind: 'reply',
      text: JSON.stringify({ [text]: text, state: 'x' }),
      endpoint: 'run.status',
    });
    const shown = await on.with({ isTTY: true, env: { NO_COLOR: '1', TERM: 'dumb' } })('run', 'status', 'x');
    return [plain, refused, shown].map(({ out, err }) => out + err).join('');
  }

  it('on stdout and on stderr', async () => {
    const text = await everything(hostile);
    expect(text).toContain('pwned');
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    expect(text).not.toMatch(/^\s*::/m);
    expect(text).not.toMatch(/##(vso)?\[|##teamcity/);
  });

  it('in JSON, whose values stay exact', async () => {
    on = await stage();
    on.mock.faults.add({ kind: 'reply', text: JSON.stringify({ state: hostile }), endpoint: 'run.status' });
    const { out } = await on.rungate('run', 'status', 'x', '--json');
    expect(JSON.parse(out).state).toBe(hostile);
    expect(out).not.toContain('#');
    expect(out).not.toContain('\u202e');
    expect(out).not.toContain('\u0085');
  });
});

describe('progress', () => {
  it('has one line per change of state and one per minute if there is no terminal', async () => {
    on = await stage({ outcome: 'passed', duration: 200_000 });
    const { err } = await on.rungate(...trigger, '--wait');
    const lines = err.split('\n').filter((line) => line.includes('in_progress'));
    expect(lines.length).toBeGreaterThanOrEqual(3);
    expect(lines.length).toBeLessThanOrEqual(5);
    expect(lines[1]).toMatch(/still in_progress after 1 min \d s \(0 failed, 0 blocked\)$/);
    expect(err).toMatch(/✓ shop \/ checkout \(run run_\w+\) passed/);
  });

  it('is coloured on a terminal or with FORCE_COLOR, and never with NO_COLOR', async () => {
    on = await stage({ outcome: 'failed' });
    const esc = '\u001b[';
    expect((await on.rungate(...trigger, '--wait')).err).not.toContain(esc);
    expect((await on.with({ env: { FORCE_COLOR: '1' } })(...trigger, '--wait')).err).toContain(esc);
    const tty = on.with({ isTTY: true, env: { NO_COLOR: '1' } });
    expect((await tty(...trigger, '--wait')).err).not.toContain(esc);
  });
});

describe('a result whose reader has gone', () => {
  it.each([
    ['passed', 78],
    ['failed', 1],
    ['stuck', 3],
  ] as const)(
    'does not pass a gate, and keeps the exit code of one that fails (%s)',
    async (outcome, code) => {
      on = await stage({ outcome, duration: 0 });
      const ended = await on.with({ closed: true })(...trigger, '--wait', '--timeout', '1m', '--json');
      expect(ended.code).toBe(code);
      expect(ended.err.includes('the result could not be written to standard output')).toBe(code === 78);
    },
  );

  it('fails run trigger without --wait, which prints the id of the run', async () => {
    on = await stage();
    const { code, err } = await on.with({ closed: true })(...trigger);
    expect(code).toBe(78);
    expect(err).toMatch(/→ .*the program after the pipe reads to the end/);
  });

  it.each(['env list', 'run status x', 'config list', '--help'])('is not an error of %s', async (line) => {
    on = await stage();
    on.mock.faults.add({ kind: 'reply', text: '{"state":"x"}', endpoint: 'run.status' });
    expect(await on.with({ closed: true })(...line.split(' '))).toMatchObject({ code: 0 });
  });
});
