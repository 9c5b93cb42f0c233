import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { browserCommands } from '../../../src/commands/run/one-run.ts';
import type { Io } from '../../../src/host/io.ts';
import { asked, cli, type Settings, type Stage, stage, trigger } from '../../cli/harness.ts';
import { json, serve } from '../../transport/serve.ts';

describe('run open', () => {
  /** A terminal with a display and a browser that opens. */
  function desktop(opens = true) {
    const opened: { command: readonly string[]; env: Readonly<Record<string, string | undefined>> }[] = [];
    const settings: Settings = {
      isTTY: true,
      env: { DISPLAY: ':0' },
      launch: async (command, env) => {
        opened.push({ command, env });
        return opens;
      },
    };
    return { opened, settings };
  }

  describe('run open', () => {
    let on: Stage;
    let id: string;
    let page: string;
    beforeEach(async () => {
      on = await stage();
      id = (await on.rungate(...trigger)).out.trim();
      page = JSON.parse((await on.rungate('run', 'status', id, '--json')).out).appUrl;
    });
    afterEach(() => on.close());

    it('opens the page of the run, with one read', async () => {
      const { opened, settings } = desktop();
      const before = on.mock.requests.length;
      const { code, out, err } = await on.with(settings)('run', 'open', id);
      expect({ code, out }).toEqual({ code: 0, out: '' });
      expect(err.replace(/\s+/g, '')).toContain(`opened${page}inyourbrowser`);
      expect(opened.map(({ command }) => command)).toEqual([['xdg-open', page]]);
      expect(asked(on.mock).slice(before)).toEqual(['run.status']);
    });

    it('hides the variables of rungate from the browser', async () => {
      const { opened, settings } = desktop();
      await on.with(settings)('run', 'open', id);
      expect(opened[0]?.env).toEqual({ DISPLAY: ':0' });
    });

    it('prints only the address into a pipe', async () => {
      const { opened, settings } = desktop();
      const { out, err } = await on.with({ ...settings, isTTY: false })('run', 'open', id);
      expect({ out, err, opened }).toEqual({ out: `${page}\n`, err: '', opened: [] });
    });
  });

  describe('run open refuses as the address of a run', () => {
    const key = 'rg_key_0123456789abcdef';
    async function open(status: unknown) {
      const { url } = await serve(({ response }) => json(response, 200, status));
      const { opened, settings } = desktop();
      const env = { ...settings.env, RUNGATE_API_URL: url, RUNGATE_API_KEY: key };
      return { ...(await cli(['run', 'open', 'r-1'], { ...settings, env })), opened };
    }

    it.each<[string, unknown]>([
      ['a file', { appUrl: 'file:///etc/passwd' }],
      ['a script', { appUrl: 'javascript:alert(1)' }],
      ['an escape sequence', { appUrl: 'https://a.example/\u001b]0;x\u0007' }],
      ['a password', { appUrl: 'https://me:hunter22@a.example/' }],
      ['the API key', { appUrl: `https://a.example/?key=${key}` }],
      ['the API key in base64', { appUrl: `https://a.example/?key=${btoa(key)}` }],
    ])('%s', async (_what, status) => {
      const { code, out, err, opened } = await open(status);
      expect({ code, out, opened }).toEqual({ code: 5, out: '', opened: [] });
      expect(err.replace(/\s+/g, ' ')).toMatch(
        /the response to GET \S+ does not match the API: appUrl(?: is missing)?: expected an http or https/,
      );
      expect(err).not.toMatch(/hunter22|0123456789abcdef|\u001b\]/);
    });

    it.each([
      ['https://a.example/x?a=1&b=$(id)|c;d', 'https://a.example/x?a=1&b=$(id)|c;d'],
      ['HTTPS://münchen.example/ü', 'https://xn--mnchen-3ya.example/%C3%BC'],
    ])('%s is opened as one argument: %s', async (appUrl, argument) => {
      const { code, opened } = await open({ appUrl });
      expect(code).toBe(0);
      expect(opened.map(({ command }) => command)).toEqual([['xdg-open', argument]]);
    });
  });

  describe('a browser', () => {
    const commands = (platform: string, env: Record<string, string>, isTTY = true) =>
      browserCommands({ env, platform, out: { isTTY } as Io['out'] });

    it.each<[string, string, Record<string, string>, string[][]]>([
      ['is xdg-open on a display', 'linux', { DISPLAY: ':0' }, [['xdg-open']]],
      ['is the Windows one in WSL', 'linux', { WSL_DISTRO_NAME: 'Ubuntu' }, [['wslview'], ['xdg-open']]],
      ['is open on macOS', 'darwin', {}, [['open']]],
      [
        'has a full path on Windows',
        'win32',
        { SystemRoot: 'D:\\Windows' },
        [['D:\\Windows\\System32\\rundll32.exe', 'url.dll,FileProtocolHandler']],
      ],
      ['is the command in BROWSER', 'linux', { BROWSER: 'firefox --new-tab' }, [['firefox', '--new-tab']]],
      ['is disabled if BROWSER is none', 'darwin', { BROWSER: 'none' }, []],
      ['is disabled without a display', 'linux', {}, []],
      ['is disabled over SSH', 'darwin', { SSH_CONNECTION: '1' }, []],
      ['is disabled in CI', 'linux', { CI: 'true', DISPLAY: ':0', BROWSER: 'firefox' }, []],
    ])('%s', (_what, platform, env, expected) => {
      expect(commands(platform, env)).toEqual(expected);
      expect(commands(platform, env, false)).toEqual([]);
    });
  });
});

describe('run cancel', () => {
  let on: Stage;
  beforeEach(async () => {
    on = await stage();
  });
  afterEach(() => on.close());

  const cancelled = async (response: unknown) => {
    on.mock.faults.add({ kind: 'reply', text: JSON.stringify(response) });
    const { code, err } = await on.rungate('run', 'cancel', 'r-1');
    expect(code).toBe(0);
    expect(on.mock.requests).toHaveLength(1);
    return err;
  };

  describe('run cancel sends one request and reports the state in the response:', () => {
    it.each([
      [
        'a run that had ended',
        { state: 'completed', failed: 0, blocked: 0 },
        'run r-1 had already completed, so there was nothing to cancel\n',
      ],
      [
        'a run that had ended, without counts',
        { runId: 'r-1', state: 'completed' },
        'run r-1 had already completed, so there was nothing to cancel\n',
      ],
      [
        'a run in progress',
        { state: 'in_progress' },
        'the service accepted the request to cancel run r-1; its state is in_progress\n',
      ],
      ['no state', { ok: true }, 'the service accepted the request to cancel run r-1\n'],
      [
        'the state of another run',
        { runId: 'r-2', state: 'completed' },
        'the service accepted the request to cancel run r-1\n',
      ],
    ])('%s', async (_what, response, note) => {
      expect(await cancelled(response)).toBe(note);
    });
  });
});
