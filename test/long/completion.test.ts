import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { isMissing, openTerminal, type Shell, type Terminal } from '../e2e/terminal.ts';

/** Keys of environments with shell syntax. Each begins with a different letter. */
const hostile = [
  'a-$(touch pwned)',
  'b-`touch pwned`',
  'c-;touch pwned',
  'd-|touch pwned&',
  'e->pwned',
  'f-two  words',
  "g-it's",
  'h-"quoted"',
  'i-back\\slash',
  'j-$HOME-${PATH}',
  'k-*?[a-z]',
  'l-{x,y}',
  'm-#comment',
  'n-a:b:c',
  'o-a=b=c',
  'p-(sub)',
  'q-~root',
  'r-été-日本',
  's-%s%n',
  't-!!',
  'u-^x^y',
];

describe.each<Shell>(['bash', 'zsh', 'fish'])('in %s', (shell) => {
  describe.skipIf(isMissing(shell))('with the TAB key', () => {
    let mock: MockServer;
    let terminal: Terminal;
    beforeAll(async () => {
      mock = await startMock();
      const env = { RUNGATE_API_URL: mock.url, RUNGATE_TOKEN: mock.token, RUNGATE_API_KEY: mock.apiKey };
      terminal = await openTerminal(shell, env);
      mkdirSync(join(terminal.folder, 'reports'));
      writeFileSync(join(terminal.folder, 'reports/gate.xml'), '');
    });
    afterAll(async () => {
      await terminal?.close();
      await mock?.close();
    });
    afterEach(() => {
      expect(existsSync(join(terminal.folder, 'pwned'))).toBe(false);
    });

    // The TAB key completes what is in brackets.
    it.each([
      ['a command', 'rungate ru[n ]'],
      ['a command of a group in a group', 'rungate webhooks deliveries re[try ]'],
      ['an option', 'rungate run wait --max-a[ttempts ]'],
      ['a value after =', 'rungate run status x --format=nd[json ]'],
      ['a verdict and an action', 'rungate run wait --on bloc[ked=]w[arn ]'],
      ['a value with colons', 'rungate keys create --scope ci:tr[igger ]'],
      ['a key from the service', 'rungate run trigger --environment stag[ing ]'],
      ['the same after =', 'rungate run trigger --environment=stag[ing ]'],
      ['after quoted words', 'rungate \'run\' "tri[gger" ]'],
      ['nothing for unknown values', 'rungate run status a[]'],
      ['a folder', 'rungate webhooks listen --save rep[orts/]'],
      ['a file', 'rungate run wait x --junit reports/[gate.xml ]'],
      ['a file after =', 'rungate run wait x --junit=reports/[gate.xml ]'],
      ['files of another command', 'rungate mock exec -- cat rep[orts/]'],
      ['after a variable', 'FOO=1 rungate ru[n ]'],
      ['under a path in the home folder', '~/bin/rungate ru[n ]'],
    ])('completes %s', async (_what, text) => {
      const keys = text.replace(/\[[^\]]*\]/g, '\t');
      expect(await terminal.type(keys)).toBe(text.replace(/[[\]]/g, ''));
    });

    it('shows descriptions if the shell supports them', async () => {
      const words = ['trigger', 'wait', 'status', 'cancel'];
      const abouts = shell === 'bash' ? [] : ['wait for runs and gate on them', 'cancel a run'];
      await terminal.press('rungate run \t\t', [...words, ...abouts]);
    });

    describe('and keys with shell syntax', () => {
      beforeAll(() => {
        const items = hostile.map((key) => ({ key, name: `\u001b]0;pwned\u0007 $(touch pwned) ${key}` }));
        mock.faults.add({ kind: 'reply', text: JSON.stringify({ items }), times: Number.POSITIVE_INFINITY });
      });

      const start = 'rungate run trigger ';
      const isPlain = (key: string) => /^[\w:=%-]+$/.test(key) || key.startsWith('r-');
      const leftOut = shell === 'bash' ? hostile.filter((key) => !isPlain(key)) : [];
      it.each(leftOut)('leaves out %s', async (key) => {
        const line = `${start}--environment ${key.slice(0, 2)}`;
        expect(await terminal.type(`${line}\t`)).toBe(line);
      });

      it.each(hostile.filter((key) => !leftOut.includes(key)))(
        'passes %s to the program unchanged',
        async (key) => {
          const places = [' ', '=', ' "', " '"];
          const keys = places.map((before) => `--environment${before}${key.slice(0, 2)}\t`);
          // The TAB key completes each word, closes its quote and adds a space.
          expect(await terminal.run(`${start}${keys.join('')}`)).toEqual([
            ...start.split(' ').slice(1, -1),
            ...places.flatMap((before) => (before === '=' ? `--environment=${key}` : ['--environment', key])),
          ]);
        },
      );

      it('lists them without their terminal escape sequences', async () => {
        const shown = await terminal.press(`${start}--environment \t\t`, ['n-', 'o-', 'r-']);
        expect(shown).not.toContain('\u001b]0;pwned');
      });
    });

    it('completes nothing and prints no error if the service does not respond', async () => {
      mock.faults.clear();
      mock.faults.add({ kind: 'stall-headers', times: Number.POSITIVE_INFINITY });
      const before = terminal.shown().length;
      const line = `rungate --api-url ${mock.url}/stalled run trigger --environment s`;
      expect(await terminal.type(`${line}\t`)).toBe(line);
      expect(terminal.shown().slice(before)).not.toMatch(/error/i);
    });
  });
});
