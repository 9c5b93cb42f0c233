import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { folderForFile } from '../folders.ts';
import { program, rungate, start } from './built.ts';
import { inTerminal } from './pty.ts';

let mock: MockServer;
const folder = folderForFile();
let env: Record<string, string>;
let id: string;
let page: string;
beforeAll(async () => {
  mock = await startMock();
  env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey, HOME: folder, TF_BUILD: '' };
  const started = await rungate(['run', 'trigger', '--project', 'a', '--process', 'b'], env).ended;
  id = started.out.trim();
  page = `${(await rungate(['run', 'open', id], env).ended).out.trim()}`;
  // Records the arguments and the rungate variables with which the browser is started.
  writeFileSync(
    join(folder, 'x-www-browser'),
    `#!/bin/sh\nprintf '%s\\n' "$@" > '${folder}/arguments'\nenv | grep ^RUNGATE_ > '${folder}/environment'\nexit 0\n`,
  );
  chmodSync(join(folder, 'x-www-browser'), 0o755);
});
afterAll(() => mock.close());

const hasXdgOpen = () => {
  try {
    execFileSync('which', ['xdg-open']);
    return true;
  } catch {
    return false;
  }
};

const started = () => ({
  arguments: readFileSync(join(folder, 'arguments'), 'utf8'),
  environment: readFileSync(join(folder, 'environment'), 'utf8'),
});

describe.skipIf(process.platform === 'win32')('run open of the built command', () => {
  it('starts the command in BROWSER with the address, on a terminal', async () => {
    const given = { ...env, BROWSER: join(folder, 'x-www-browser') };
    expect(await inTerminal(['run', 'open', id], given, { columns: 200 }).ended).toBe(0);
    expect(started()).toEqual({ arguments: `${page}\n`, environment: '' });
  });

  it.skipIf(!hasXdgOpen())('starts the browser of the desktop through xdg-open', async () => {
    // A desktop entry chooses the browser.
    mkdirSync(join(folder, 'applications'));
    const entry = `[Desktop Entry]\nType=Application\nName=x\nExec=${folder}/x-www-browser %u\n`;
    writeFileSync(join(folder, 'applications/x.desktop'), entry);
    const handlers =
      '[Default Applications]\nx-scheme-handler/http=x.desktop\nx-scheme-handler/https=x.desktop\n';
    writeFileSync(join(folder, 'mimeapps.list'), handlers);
    const desktop = { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, XDG_CURRENT_DESKTOP: 'X-Generic' };
    const given = { ...env, ...desktop, BROWSER: '', DISPLAY: ':0' };
    rmSync(join(folder, 'arguments'));
    expect(await inTerminal(['run', 'open', id], given, { columns: 200 }).ended).toBe(0);
    expect(started().arguments).toBe(`${page}\n`);
  });
});

it.skipIf(process.getuid?.() !== 0)(
  'a user without an account, as in a container, does not believe the journal of another user',
  async () => {
    const temporary = mkdtempSync(join(folder, 'job-'));
    for (const path of [folder, temporary]) chmodSync(path, 0o755);
    const job = {
      GITLAB_CI: 'true',
      CI_PIPELINE_ID: '1',
      CI_JOB_NAME: 'e2e',
      CI_JOB_ID: '2',
      TMPDIR: temporary,
    };
    const gate = [
      ...program,
      'gate',
      '--project',
      'shop',
      '--process',
      'checkout',
      '--commit-sha',
      'a'.repeat(40),
      '--ref',
      'main',
    ];
    const run = (command: string[]) => start(command[0] ?? '', command.slice(1), { ...env, ...job }).ended;
    await run(gate);
    for (const name of readdirSync(temporary)) chmodSync(join(temporary, name), 0o644);
    const { err } = await run(['setpriv', '--reuid=12345', '--regid=12345', '--clear-groups', ...gate]);
    expect(err).toMatch(/the journal .* cannot be used: it belongs to another user/);
  },
);
